package hdfsblob

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/colinmarc/hdfs/v2"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// exception is what a server threw.
type exception interface {
	error
	hdfs.Error
}

// remoteError gives an exception of a server one line, its own first.
type remoteError struct {
	text string
	error
}

func (e remoteError) Error() string { return e.text }
func (e remoteError) Unwrap() error { return e.error }

// kinded is an error whose kind is known better than it shows.
type kinded struct {
	kind error
	error
}

func (e kinded) Unwrap() []error { return []error{e.kind, e.error} }

// opaque is of that kind and says its cause without wrapping it: that a file of the configuration does not exist must not
// be taken for the absence of an object.
func opaque(what string, kind, cause error) error {
	return fmt.Errorf("%s: %w: %s", what, kind, cause.Error())
}

// wrap classifies what the library returned, unless it is a *dirtree.Error already.
func wrap(op, path string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*dirtree.Error](err); ok {
		return err
	}
	e := &dirtree.Error{Op: op, Path: path, Kind: kindOf(err), Err: err}
	if remote, ok := errors.AsType[exception](err); ok {
		e.Err = remoteError{said(remote), err}
	} else if inner, ok := errors.AsType[*fs.PathError](err); ok && !dirtree.IsEnded(err) {
		e.Err = inner.Err // whose verb and path are ours
	}
	return e
}

// said is what the server says up to its stack trace, on one line, and what helps.
func said(remote exception) string {
	text, _, _ := strings.Cut(remote.Message(), "\n\tat ")
	text = strings.Join(strings.Fields(text), " ")
	class := className(remote.Exception())
	switch {
	case text == "":
		return fmt.Sprintf("%s: %s", remote.Desc(), class)
	case class == "":
		return text
	}
	return class + ": " + text + wayOut(class)
}

// wayOut is what the server leaves unsaid.
func wayOut(class string) string {
	switch class {
	case "AccessControlException":
		return " (hdfs dfs -chmod, -chown or -setfacl grants it)"
	case "NSQuotaExceededException":
		return " (hdfs dfsadmin -setQuota raises it)"
	case "DSQuotaExceededException":
		return " (hdfs dfsadmin -setSpaceQuota raises it)"
	}
	return ""
}

func className(class string) string {
	class = class[strings.LastIndexByte(class, '.')+1:]
	return class[strings.LastIndexByte(class, '$')+1:]
}

// kindOf tells the kind of an error of the library. What is neither an exception of a server nor one of the few
// errors that the library makes of one is a broken or refused connection, which the library reports as text.
func kindOf(err error) error {
	if err == nil || dirtree.IsEnded(err) {
		return nil
	}
	if kind := dirtree.KindOf(err); kind != nil {
		return kind
	}
	if errors.Is(err, syscall.ENOTEMPTY) {
		return fs.ErrInvalid
	}
	if remote, ok := errors.AsType[exception](err); ok {
		return kindOfClass(className(remote.Exception()), remote.Method())
	}
	return dirtree.ErrUnavailable
}

// kindOfClass goes by the last part of the exception's name. A plain IOException says nothing but in its text,
// except that addBlock throws it only when too few DataNodes take the block.
func kindOfClass(class, method string) error {
	switch class {
	case "FileNotFoundException":
		return fs.ErrNotExist
	case "SnapshotException":
		if method == "concat" { // the parts are of no use any more
			return fs.ErrNotExist
		}
	case "FileAlreadyExistsException":
		return fs.ErrExist
	case "AccessControlException", "AuthorizationException", "SaslException", "SecurityException", "InvalidToken", "AuthenticationException":
		return fs.ErrPermission
	case "SafeModeException", "RetriableException", "StandbyException", "ObserverRetryOnActiveException", "NotReplicatedYetException",
		"LeaseExpiredException", "AlreadyBeingCreatedException", "RecoveryInProgressException", "RetryStartFileException",
		"ServerException", "RpcServerException", "UnregisteredNodeException", "BlockMissingException", "NoRouteToHostException",
		"ConnectException", "SocketTimeoutException", "EOFException", "RouterStandbyException", "SubClusterTimeoutException":
		return dirtree.ErrUnavailable
	case "NSQuotaExceededException", "DSQuotaExceededException", "QuotaByStorageTypeExceededException", "QuotaExceededException", "MaxDirectoryItemsExceededException":
		return dirtree.ErrNoSpace
	case "ParentNotDirectoryException", "PathComponentTooLongException", "InvalidPathException", "HadoopIllegalArgumentException",
		"IllegalArgumentException", "PathIsNotEmptyDirectoryException":
		return fs.ErrInvalid
	case "UnknownCryptoProtocolVersionException", "UnsupportedOperationException", "RpcNoSuchMethodException", "RpcNoSuchProtocolException":
		return errors.ErrUnsupported
	case "ChecksumException":
		return dirtree.ErrCorrupt
	case "IOException":
		if method == "addBlock" {
			return dirtree.ErrUnavailable
		}
	}
	return nil
}
