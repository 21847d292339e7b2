package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt/attach"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/doc"
	"github.com/lorimer-dev/lorimer/tools/workspace"
)

const (
	maxBody  = 16 << 20 // bytes of an attached file that are read
	maxShown = 300      // characters of a path that the user is asked about
)

// A bodySource finds what the keys of a session stand for: those that its thread has
// attached, and those of the documents in the workspace that it is bound to. It
// reads files through the session's file system, and one outside of it only where
// the user was asked for that very file.
type bodySource struct {
	t *turn

	mu    sync.Mutex        // guards asked
	asked map[string]string // the files outside that consent was asked for, links followed, by the keys
}

var _ doc.Source = (*bodySource)(nil)

func newBodySource(t *turn) *bodySource { return &bodySource{t: t, asked: make(map[string]string)} }

// Body implements [doc.Source].
func (s *bodySource) Body(ctx context.Context, key string) (doc.Body, error) {
	a, err := s.find(ctx, key)
	if err != nil {
		return doc.Body{}, err
	}
	if strings.HasPrefix(key, "document:") {
		return s.document(ctx, a)
	}
	return s.file(ctx, a)
}

// Look implements [doc.Source].
func (s *bodySource) Look(ctx context.Context, key string) doc.Look {
	a, err := s.find(ctx, key)
	if err != nil || !strings.HasPrefix(key, "resource:") {
		return doc.Look{}
	}
	name, ok := filePath(a.URI)
	if !ok {
		return doc.Look{}
	}
	real, outside, err := s.resolve(name)
	if err != nil {
		return doc.Look{} // there is nothing to read, as Body tells
	}
	if outside {
		s.mu.Lock()
		s.asked[key] = real
		s.mu.Unlock()
	}
	return doc.Look{Path: real, Caution: caution(name, real, outside)}
}

// caution says why reading a file needs consent; "" needs none.
func caution(name, real string, outside bool) string {
	secret := workspace.Secret(name) || workspace.Secret(real)
	shown := tools.Line(real, maxShown)
	switch {
	case outside && secret:
		return shown + " is outside the workspace and may hold passwords or keys, and the model would read it"
	case outside:
		return shown + " is outside the workspace, and the model would read it"
	case secret:
		return shown + " may hold passwords or keys, and the model would read it"
	}
	return ""
}

// resolve returns the path that name leads to, and whether that is outside the
// workspace, where it must be there.
func (s *bodySource) resolve(name string) (real string, outside bool, err error) {
	real, err = s.t.s.spec.FS.Resolve(name)
	if !errors.Is(err, workspace.ErrOutside) || s.t.o.Outside == nil {
		return real, false, err
	}
	real, err = filepath.EvalSymlinks(name)
	return real, true, err
}

// find returns the attachment that has key.
func (s *bodySource) find(ctx context.Context, key string) (thread.Attached, error) {
	conv, err := s.conversation(ctx)
	if err != nil {
		return thread.Attached{}, err
	}
	if a, ok := conv.Attached(key); ok {
		return a, nil
	}
	id := s.t.s.place().Workspace
	if id == "" || s.t.o.Documents == nil {
		return thread.Attached{}, unknownKey(key)
	}
	i, err := s.t.o.Documents.Item(ctx, id, key)
	switch {
	case errors.Is(err, place.ErrNone):
		return thread.Attached{}, unknownKey(key)
	case err != nil:
		return thread.Attached{}, err
	}
	return thread.Attached{Key: i.Key, Name: i.Name, Type: i.Type}, nil
}

func unknownKey(key string) error {
	return tools.Publicf("Nothing of this session has the key %q. Use a key as a table of attached context or the workspace gives it.", tools.Line(key, maxNamed))
}

// conversation returns that of the turn, or of a look, which has no harness, what
// is stored.
func (s *bodySource) conversation(ctx context.Context) (*thread.Conversation, error) {
	if s.t.lease.harness != nil {
		return s.t.lease.conv, nil
	}
	conv := new(thread.Conversation)
	return conv, s.t.catchUp(ctx, conv, nil)
}

// document returns a document that is kept, or, where it is not or cannot be read, as
// in a thread that comes from elsewhere, what the message has embedded.
func (s *bodySource) document(ctx context.Context, a thread.Attached) (doc.Body, error) {
	content, err := s.kept(ctx, a)
	if err != nil && ctx.Err() == nil {
		content, err = s.instead(ctx, a, err)
	}
	if err != nil {
		return doc.Body{}, err
	}
	return body(a, content), nil
}

// instead returns what the message has embedded of a document that was not read
// because of fault.
func (s *bodySource) instead(ctx context.Context, a thread.Attached, fault error) ([]byte, error) {
	found, err := s.embedded(ctx, a)
	switch {
	case errors.Is(fault, place.ErrNone):
		return found, err
	case err != nil && errors.Is(fault, fs.ErrNotExist): // for this key alone
		return nil, err
	case err != nil:
		return nil, fault
	}
	s.t.log.Warn().Err(fault).Msg("a document is read from its message")
	return found, nil
}

// kept returns the content of a document, or [place.ErrNone].
func (s *bodySource) kept(ctx context.Context, a thread.Attached) ([]byte, error) {
	if s.t.o.Documents == nil {
		return nil, place.ErrNone
	}
	return s.t.o.Documents.Content(ctx, a.Key)
}

// embedded finds the content of an attachment in the messages of the thread.
func (s *bodySource) embedded(ctx context.Context, a thread.Attached) (found []byte, err error) {
	err = s.t.o.Threads.Read(ctx, s.t.s.id, 0, func(e thread.Entry) error {
		u, ok := e.Body.(thread.User)
		if !ok || !slices.ContainsFunc(u.Attached, func(o thread.Attached) bool { return o.Key == a.Key }) {
			return nil
		}
		for _, b := range u.Blocks {
			if c := content(b); isAttachment(b) && attach.DocumentKey(c) == a.Key {
				found = c
				return errEnough
			}
		}
		return nil
	})
	switch {
	case errors.Is(err, errEnough):
		return found, nil
	case err != nil:
		return nil, fmt.Errorf("reading the thread: %w", err)
	}
	return nil, tools.Publicf("The content of %s is not kept any more. Ask the user to attach it again.", a.Key)
}

// file returns the file that a link leads to.
func (s *bodySource) file(ctx context.Context, a thread.Attached) (doc.Body, error) {
	name, ok := filePath(a.URI)
	if !ok {
		return s.resource(ctx, a)
	}
	real, outside, err := s.resolve(name)
	var content []byte
	switch {
	case err != nil:
	case outside && !s.allowed(a.Key, real):
		err = workspace.ErrOutside
	case outside:
		content, err = s.t.o.Outside(ctx, real, maxBody)
	default:
		content, err = s.t.s.spec.FS.ReadFile(ctx, name, maxBody)
	}
	if err != nil {
		return doc.Body{}, unread(a, err)
	}
	return body(a, content), nil
}

// resource returns the resource of an MCP server that a link leads to.
func (s *bodySource) resource(ctx context.Context, a thread.Attached) (doc.Body, error) {
	r, owned, err := s.t.resource(ctx, a.URI)
	switch {
	case err != nil:
		return doc.Body{}, err
	case !owned:
		return doc.Body{}, elsewhere(a)
	}
	return doc.Body{Name: a.Name, Type: cmp.Or(a.Type, r.mime), Text: r.text, Size: r.size}, nil
}

// allowed reports whether the user was asked for the file at real when the key was
// looked at, without which nobody reads it.
func (s *bodySource) allowed(key, real string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[key] == real
}

func body(a thread.Attached, content []byte) doc.Body {
	b := doc.Body{Name: a.Name, Type: a.Type, Size: len(content)}
	if isText(content) {
		b.Text = string(content)
	}
	return b
}

// elsewhere says why what a links to is no file.
func elsewhere(a thread.Attached) error {
	scheme, _, _ := strings.Cut(a.URI, ":")
	switch strings.ToLower(scheme) {
	case "http", "https":
		return tools.Publicf("%s is a web address, which cannot be read here. Go by its name, or ask the user for what it says.", a.Key)
	}
	return tools.Publicf("%s is a link of the editor that cannot be read here. Go by its name, or ask the user for what it says.", a.Key)
}

// unread says why the file that a links to was not read.
func unread(a thread.Attached, err error) error {
	switch {
	case errors.Is(err, workspace.ErrOutside):
		return tools.Publicf("The file of %s is outside the workspace, where it was not allowed to be read. Ask the user for what it says.", a.Key)
	case errors.Is(err, fs.ErrNotExist):
		return tools.Publicf("The file of %s is not there any more.", a.Key)
	case errors.Is(err, fs.ErrPermission):
		return tools.Publicf("The file of %s may not be read.", a.Key)
	case errors.Is(err, workspace.ErrSpecial):
		return tools.Publicf("%s is a directory or no regular file. List it instead.", a.Key)
	case errors.Is(err, workspace.ErrTooLarge):
		return tools.Publicf("The file of %s has more than %d MiB. Read parts of it by its path.", a.Key, maxBody>>20)
	}
	return err
}

// linkedFile returns the path of a file of the workspace that uri leads to and that
// may be read unasked.
func (t *turn) linkedFile(uri string) (name string, ok bool) {
	if name, ok = filePath(uri); !ok {
		return "", false
	}
	real, err := t.s.spec.FS.Resolve(name)
	return name, err == nil && !workspace.Secret(name) && !workspace.Secret(real)
}

// filePath returns the absolute path that a file address names.
func filePath(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || !strings.EqualFold(u.Scheme, "file") || u.Host != "" && !strings.EqualFold(u.Host, "localhost") {
		return "", false
	}
	name := u.Path
	if runtime.GOOS == "windows" {
		name = strings.TrimPrefix(name, "/") // of /C:/x
	}
	name = filepath.FromSlash(name)
	return name, filepath.IsAbs(name)
}
