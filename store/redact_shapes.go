package store

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/heirloom-ml/heirloom/store/pattern"
)

// shapes are secrets that show what they are.
var shapes = pattern.Lazy(strings.Join([]string{
	`\b(?:AKIA|ASIA)[0-9A-Z]{16}(?:[:/,;|\s]+[A-Za-z0-9/+=]{40}|\b)`, // with the key itself behind the id
	`\b(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz)[A-Za-z0-9/+=_%-]{16,}`,
	`\bgh[pousr]_[A-Za-z0-9]{16,}`,
	`\bgithub_pat_[A-Za-z0-9_]{16,}`,
	`\bgl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|imt|agent|oas)-[A-Za-z0-9_.-]{16,}`,
	`\bxox[abeprs][-.][A-Za-z0-9.-]{8,}`,
	`\bxapp-[0-9]-[A-Za-z0-9-]{8,}`,
	`\bsk-(?:proj|svcacct|admin|ant|or|lf)-[A-Za-z0-9_-]{16,}`,
	`\bsk-[A-Za-z0-9_-]*[A-Za-z0-9]{16,}[A-Za-z0-9_-]*`,
	`\b(?:[sr]k|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,}`,
	`\b(?:hf|api_org)_[A-Za-z0-9]{30,}`,
	`\b(?:dapi|dose|dkea|dsapi)[0-9a-f]{32}(?:-[0-9]+)?`,
	`\bAIza[0-9A-Za-z_-]{30,}`,
	`\bya29\.[0-9A-Za-z_-]{8,}`,
	`\b1//0[0-9A-Za-z_-]{20,}`,
	`\bGOCSPX-[0-9A-Za-z_-]{20,}`,
	`\bnpm_[A-Za-z0-9]{30,}`,
	`\bpypi-[A-Za-z0-9_-]{30,}`,
	`\bdckr_[po]at_[A-Za-z0-9_-]{20,}`,
	`\bnvapi-[A-Za-z0-9_-]{30,}`,
	`\b(?:gsk|pcsk|r8|lsv2_pt|lsv2_sk|wandb_v1|glsa|sbp|dop_v1|shpat)_[A-Za-z0-9_]{20,}`,
	`\b(?:pplx|xai)-[A-Za-z0-9]{30,}`,
	`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`,
	`\bhv[sbr]\.[A-Za-z0-9_-]{20,}`,
	`\b[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}`,
	`\bAGE-SECRET-KEY-1[0-9A-Z]{40,}`,
	`\bhttps://hooks\.slack\.com/[A-Za-z0-9/_-]+`,
	`\bhttps://(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks/[A-Za-z0-9/_-]+`,
	`\beyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*`,
	`\beyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`,
	`(?:eyJ0eXBlIjo|ewogICJ0eXBlIjo)[A-Za-z0-9+/=_-]{20,}`, // a service account of Google in base64
	`LS0tLS1CRUdJTi[A-Za-z0-9+/=_-]{20,}`,                  // PEM in base64
	`b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=]{20,}`,               // a key of OpenSSH without its frame
}, "|"))

const (
	toEnd = `(?:'[^'\r\n]*'|"[^"\r\n]*"|[^|;&\r\n])*?\s` // within one command of a shell
	word  = `((?:'[^']*'|"[^"]*"|[^\s'"|;&])+)`          // as a shell takes it, whatever it is put together from
)

// places are where a secret stands that neither has a name nor shows what it is: the last group.
var places = []func() *regexp.Regexp{
	pattern.Lazy(`(?i)(wandb.{0,40}?)\b([0-9a-f]{40})\b`),
	pattern.Lazy(`(\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump)` + toEnd + `-p)` + word),
	pattern.Lazy(`(\bsshpass\s+-p\s*)` + word),
	pattern.Lazy(`(\bcurl` + toEnd + `(?:-u|--user|--proxy-user|-U)[ =]?)` + word),
	pattern.Lazy(`(\b(?:docker|podman|az)\s+login` + toEnd + `-p[ =]?)` + word),
	pattern.Lazy(`(\bredis-cli` + toEnd + `-a[ =]?)` + word),
	pattern.Lazy(`(\b(?:wandb|vault)\s+login\s+)([^\s'"|;&-][^\s'"|;&]*)`),
	pattern.Lazy(`(?i)(\b(?:set|create)\s+[a-z0-9_.-]*(?:secret|token|password|access_key|api_key)[a-z0-9_.-]*\s+)` + word),
	pattern.Lazy(`(?i)(\blogin\s+\S+\s+password\s+)` + word), // netrc
	pattern.Lazy(`(?i)(\bidentified\s+by\s+)` + word),        // SQL
	pattern.Lazy(`(?i)(\bjdbc:oracle:\w+:)([^/\s]+/[^@\s]+)@`),
	pattern.Lazy(`(?i)(^|[\s"'=])([^\s"'=:@/]+:[^\s"'@]+)@(?:tcp|unix)\(`), // Go's driver of MySQL
}

func redactShapes(text string) string {
	text = shapes().ReplaceAllLiteralString(text, RedactedMark)
	for _, place := range places {
		text = replaceGroup(text, place(), 2)
	}
	return text
}

// replaceGroup puts the mark in place of one group of each match.
func replaceGroup(text string, place *regexp.Regexp, group int) string {
	var out strings.Builder
	pos := 0
	for _, m := range place.FindAllStringSubmatchIndex(text, -1) {
		out.WriteString(text[pos:m[2*group]])
		if value := text[m[2*group]:m[2*group+1]]; strings.Trim(value, `'"`) == RedactedMark {
			out.WriteString(value) // with its quotes, behind which others look for it
		} else {
			out.WriteString(RedactedMark)
		}
		pos = m[2*group+1]
	}
	if pos == 0 {
		return text
	}
	return out.String() + text[pos:]
}

// encoded is a value with percent escapes: a parameter, and maybe a URL itself.
var encoded = pattern.Lazy(`=([^\s"'<>&=#%]*%[0-9A-Fa-f]{2}[^\s"'<>&=#]*)`)

// redactEncoded looks into values as they will be read.
func redactEncoded(text string) string {
	return encoded().ReplaceAllStringFunc(text, func(found string) string {
		plain, err := url.PathUnescape(found[1:])
		if err != nil || redactOnce(plain) == plain {
			return found
		}
		return "=" + RedactedMark
	})
}

var element = pattern.Lazy(`<([A-Za-z_][A-Za-z0-9_.-]*)>([^<]+)</`)

// redactElements goes through <name>value</name>.
func redactElements(text string) string {
	return element().ReplaceAllStringFunc(text, func(found string) string {
		m := element().FindStringSubmatch(found)
		if nameSecrecy(m[1]) != strongSecret || isPlainValue(m[1], m[2]) {
			return found
		}
		return "<" + m[1] + ">" + RedactedMark + "</"
	})
}
