package serve

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// A kind is what there is a list of.
type kind string

const (
	kindTools     kind = "tools"
	kindPrompts   kind = "prompts"
	kindResources kind = "resources"
)

// settle is how long a change is waited with, since more of them may follow.
const settle = 100 * time.Millisecond

// lists knows which lists a client has seen, and tells it when they are others. What
// may have changed is compared with what the client was told, so that it hears of
// changes alone.
type lists struct {
	c       *conn
	changed chan struct{} // holds a token when a list may be another one

	mu        sync.Mutex // guards the fields below
	begun     chan struct{}
	told      map[kind][sha256.Size]byte
	changes   int // how often something may have changed
	listeners map[*request]filter
}

// A filter is what a listener wants to hear of.
type filter struct {
	Tools     bool `json:"toolsListChanged,omitempty"`
	Prompts   bool `json:"promptsListChanged,omitempty"`
	Resources bool `json:"resourcesListChanged,omitempty"`
}

func (f filter) has(k kind) bool {
	return k == kindTools && f.Tools || k == kindPrompts && f.Prompts || k == kindResources && f.Resources
}

func newLists(c *conn) *lists {
	return &lists{
		c: c, changed: make(chan struct{}, 1), begun: make(chan struct{}),
		told: make(map[kind][sha256.Size]byte), listeners: make(map[*request]filter),
	}
}

// begin has changes watched, since a client is there that may hear of them.
func (l *lists) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.begun:
	default:
		close(l.begun)
	}
}

// change notes that a list may be another one.
func (l *lists) change() {
	l.mu.Lock()
	l.changes++
	l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// telling is called before a list is made that the client asks for, and returns what
// is to be called with the list.
func (l *lists) telling(k kind) func(list any) {
	l.mu.Lock()
	before := l.changes
	l.mu.Unlock()
	return func(list any) {
		l.mu.Lock()
		l.told[k] = digest(list)
		missed := l.changes != before
		l.mu.Unlock()
		if missed {
			l.change()
		}
	}
}

func digest(list any) [sha256.Size]byte {
	data, err := json.Marshal(list)
	if err != nil {
		return [sha256.Size]byte{} // equal to no list; the answer has told what is wrong
	}
	return sha256.Sum256(data)
}

// watch tells the client of changes until ctx ends.
func (l *lists) watch(ctx context.Context) {
	if l.c.s.o.Watch == nil {
		return
	}
	select {
	case <-l.begun:
	case <-ctx.Done():
		return
	}
	stop := l.c.s.o.Watch(l.change)
	defer stop()
	for {
		select {
		case <-l.changed:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(settle):
		case <-ctx.Done():
			return
		}
		l.compare(ctx)
	}
}

// compare makes the lists that the client has seen, and tells which are others.
func (l *lists) compare(ctx context.Context) {
	for _, k := range l.seen() {
		list, err := l.list(ctx, k)
		if err != nil {
			if ctx.Err() == nil {
				l.c.s.o.Log.Warn().Err(err).Str("list", string(k)).Msg("a list that may have changed cannot be read")
			}
			continue
		}
		if now := digest(list); l.differs(k, now) {
			l.tell(ctx, k, now)
		}
	}
}

func (l *lists) seen() []kind {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.told))
}

func (l *lists) differs(k kind, now [sha256.Size]byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.told[k] != now
}

// list returns a list as telling was given it.
func (l *lists) list(ctx context.Context, k kind) (any, error) {
	s := l.c.s
	switch k {
	case kindTools:
		all, err := s.desk.Tools(ctx)
		return toolList(all), err
	case kindPrompts:
		all, err := s.o.Prompts.Prompts(ctx)
		return promptList(all), err
	}
	return s.o.Resources.Resources(ctx)
}

// tell tells the client, if it hears of such things, that a list is another one.
func (l *lists) tell(ctx context.Context, k kind, now [sha256.Size]byte) {
	method := "notifications/" + string(k) + "/list_changed"
	l.c.mu.Lock()
	handshake := l.c.revision != ""
	l.c.mu.Unlock()
	l.mu.Lock()
	var ids []json.RawMessage
	for r, f := range l.listeners {
		if f.has(k) {
			ids = append(ids, r.id)
		}
	}
	if handshake || len(ids) > 0 {
		l.told[k] = now
	}
	l.mu.Unlock()
	if handshake {
		l.c.out.put(ctx.Done(), notification(method, nil), 1) // who cannot be told any more need not know
	}
	for _, id := range ids {
		l.c.out.put(ctx.Done(), subscribed(method, id, nil), 1)
	}
}

// subscribed is a notification for a listener.
func subscribed(method string, id json.RawMessage, f *filter) []byte {
	return notification(method, struct {
		Meta   resultMeta `json:"_meta"`
		Filter *filter    `json:"notifications,omitempty"`
	}{resultMeta{Subscription: id}, f})
}

// listen is subscriptions/listen: it lasts until the client ends it, or the
// connection does.
func listen(ctx context.Context, r *request) (any, *fault) {
	var p struct {
		Wanted filter `json:"notifications"`
	}
	if f := r.decode(&p); f != nil {
		return nil, f
	}
	o, l := &r.c.s.o, r.c.lists
	granted := filter{}
	if o.Watch != nil {
		granted = filter{p.Wanted.Tools, p.Wanted.Prompts && o.Prompts != nil, p.Wanted.Resources && o.Resources != nil}
	}
	r.baseline(ctx, granted)
	// The client is told before anything else is sent for it.
	r.c.out.put(ctx.Done(), subscribed("notifications/subscriptions/acknowledged", r.id, &granted), 1)
	if granted != (filter{}) {
		l.mu.Lock()
		l.listeners[r] = granted
		l.mu.Unlock()
		l.begin()
		l.change() // since the lists were seen
		<-ctx.Done()
		l.mu.Lock()
		delete(l.listeners, r)
		l.mu.Unlock()
		if !errors.Is(context.Cause(ctx), errCancelled) {
			r.ended(context.WithoutCancel(ctx))
		}
	}
	return struct {
		ResultType string     `json:"resultType"`
		Meta       resultMeta `json:"_meta"`
	}{"complete", resultMeta{r.c.s.about(), r.id}}, nil
}

// baseline looks at lists that a listener wants to hear of and has never asked for, so
// that the first change of them shows.
func (r *request) baseline(ctx context.Context, f filter) {
	l := r.c.lists
	for _, k := range []kind{kindTools, kindPrompts, kindResources} {
		if !f.has(k) || slices.Contains(l.seen(), k) {
			continue
		}
		told := l.telling(k)
		if list, err := l.list(ctx, k); err == nil { // else the client is told when it asks
			told(list)
		}
	}
}

// ended tells a listener that this side ends its subscription.
func (r *request) ended(ctx context.Context) {
	r.c.out.put(ctx.Done(), notification(string(mcp.MethodNotificationCancelled), struct {
		ID json.RawMessage `json:"requestId"`
	}{r.id}), 1) // the answer follows, whose failure is logged
}
