package ollama

import (
	"fmt"

	"github.com/lorimer-dev/lorimer/harness/estimate"
	"github.com/lorimer-dev/lorimer/harness/model"
)

// reserve is how near the end of the window an answer may have stopped because of
// it.
const reserve = 8

// halfCut is how much more than half of the window some servers leave of a prompt
// that they cut.
const halfCut = 8

// reason is why the answer ended.
func (a *answer) reason() model.Stop {
	prompt, output := int(a.end.Prompt), int(a.end.Output)
	switch {
	case a.end.DoneReason != "length":
	case a.limit > 0 && output > 0 && output < a.limit,
		a.window > 0 && prompt > 0 && prompt+output >= a.window-reserve && prompt <= a.window && (a.limit == 0 || output < a.limit):
		return model.StopContext
	default:
		return model.StopLength
	}
	if len(a.calls) > 0 {
		return model.StopTools
	}
	return model.StopEnd
}

// usage is what the server has counted. Servers of some versions leave out what
// they had in their cache, wholly or in part: without a number, or with one that is
// less than there was to count, nothing is known.
func (a *answer) usage() model.Usage {
	if a.end.Prompt == 0 || a.short {
		return model.Usage{}
	}
	return model.Usage{
		Input: int(a.end.Prompt), Output: int(a.end.Output),
		CacheRead: min(int(a.end.Cached), int(a.end.Prompt)), Known: true,
	}
}

// cut is the error of an answer to a prompt that the server has cut to the window
// without a word, as servers do that do not know the field "truncate". A prompt of
// which too little was counted was cut, or some of it was in the cache of a server
// that leaves that out of the count. So it takes more than a low count:
//
//   - The count is exactly the window. A server has cut to it, or there is no room
//     for an answer; one that fits ends below.
//   - The count is below the least that the prompt can have, see [estimate.Size],
//     and that least is beyond the window: it cannot have fitted.
//   - The count is below that least, and half of the window with a few tokens, which
//     is what other servers leave.
//
// A count beyond the window comes from a server that has a larger one than it was
// asked for, and nothing was cut. Nor is anything said where nothing was counted, or
// no window asked for.
func (a *answer) cut(req *model.Request) *model.Error {
	window, counted := a.window, int(a.end.Prompt)
	if counted == 0 {
		return nil
	}
	least := leastOf(req)
	a.short = counted < least
	if window == 0 || counted > window {
		return nil
	}
	half := counted >= window/2 && counted <= window/2+halfCut
	if counted != window && !(a.short && (least > window || half)) {
		return nil
	}
	return &model.Error{Kind: model.TokenLimit, Final: true, Message: fmt.Sprintf(
		"the prompt has more tokens than the window of %d, and the server has cut it to %d; begin a new session, or set a larger window in models.toml if the machine has room for it",
		window, counted)}
}

// leastOf is the least that the texts of req have in tokens. Tools are left out:
// templates tell of them each in its own way.
func leastOf(req *model.Request) int {
	least := estimate.Text(req.System).Least
	for i := range req.Messages {
		least += estimate.Parts(req.Messages[i].Parts).Least
	}
	return least
}
