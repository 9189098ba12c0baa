package render

import "strings"

// tone is the colours of a look: inside and edge, on a light ground and on a dark one.
type tone struct {
	look                           string
	fill, edge, darkFill, darkEdge string
}

// tones are the colours of states and kinds. No two that differ in meaning differ by red and green alone: shapes tell
// them apart as well.
var tones = []tone{
	{"succeeded", "#e9f6ec", "#2c974b", "#10271a", "#46c263"},
	{"failed", "#fdecea", "#cf222e", "#33161a", "#ff6b63"},
	{"cancelled", "#fbf4d6", "#9a6700", "#2b2410", "#d8a92f"},
	{"lost", "#fdefe3", "#bc4c00", "#321d0e", "#f0883e"},
	{"running", "#e3f1fd", "#0969da", "#0f2238", "#58a6ff"},
	{"dataset", "#f3edfc", "#7a4fc9", "#21183a", "#ae8cf2"},
	{"external", "#f3f4f6", "#57606a", "#1b2027", "#8d96a0"},
	{"artifact", "#e4f5f5", "#1b7c83", "#0e2729", "#39c5cf"},
	{"unknown", "#f6f8fa", "#6e7781", "#171b21", "#8b949e"},
	{"submitted", "#f6f8fa", "#6e7781", "#171b21", "#8b949e"},
	{"pending", "#f6f8fa", "#6e7781", "#171b21", "#8b949e"},
	{"unsubmitted", "#f6f8fa", "#6e7781", "#171b21", "#8b949e"},
}

// svgStyle is the style sheet: colours by look, for a light ground and for a dark one. It has no variables, which some
// programs that show SVG do not know.
var svgStyle = "<style>\n" +
	"text{font-family:ui-sans-serif,system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Noto Sans',sans-serif}\n" +
	".title{font-size:17px;font-weight:600}.name{font-size:13px;font-weight:600}.small{font-size:11px;font-weight:500}" +
	".note{font-size:11px}.tiny{font-size:9.5px}.flow{font-size:10.5px;text-anchor:middle;stroke-width:4px;stroke-linejoin:round;paint-order:stroke}\n" +
	".link{fill:none;stroke-width:1.3}.back{stroke-width:1.5;stroke-dasharray:6 3}.box{stroke-width:1.2}.chip .box{stroke-width:0.8}" +
	".edge,.ring{fill:none;stroke-width:1.2}.ring{stroke-width:1.6}.mark{fill:none;stroke-width:1.7;stroke-linecap:round;stroke-linejoin:round}" +
	".root .box{stroke-width:2.4}.halo{stroke:none}.missing .box{stroke-dasharray:4 3}.around{stroke-width:1.2}\n" +
	svgColors(false) +
	"@media (prefers-color-scheme:dark){\n" + svgColors(true) + "}\n" +
	"</style>\n"

// svgColors are the rules that differ by ground.
func svgColors(dark bool) string {
	pick := func(light, onDark string) string {
		if dark {
			return onDark
		}
		return light
	}
	ground := pick("#ffffff", "#0d1117")
	rules := ".ground{fill:" + ground + "}" +
		".title,.name,.small,.tiny{fill:" + pick("#1f2328", "#e6edf3") + "}" +
		".note{fill:" + pick("#59636e", "#9198a1") + "}" +
		".flow{fill:" + pick("#59636e", "#9198a1") + ";stroke:" + ground + "}" +
		".link{stroke:" + pick("#9aa4af", "#5b6570") + "}.head{fill:" + pick("#7d8793", "#7d8793") + "}" +
		".back{stroke:" + pick("#bf3989", "#f778ba") + "}.backhead{fill:" + pick("#bf3989", "#f778ba") + "}" +
		".mark{stroke:" + ground + "}" +
		".halo{fill:" + pick("#ffd33d", "#7a5c00") + ";fill-opacity:0.55}" +
		".around{fill:" + pick("#fafbfc", "#12171e") + ";stroke:" + pick("#b6bfc9", "#444c56") + "}\n"
	var b strings.Builder
	b.WriteString(rules)
	for _, t := range tones {
		fill, edge := pick(t.fill, t.darkFill), pick(t.edge, t.darkEdge)
		b.WriteString("." + t.look + " .box{fill:" + fill + ";stroke:" + edge + "}." +
			t.look + " .edge,." + t.look + " .ring{stroke:" + edge + "}." + t.look + " .sign{fill:" + edge + "}\n")
	}
	return b.String()
}
