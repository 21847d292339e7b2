package prompt

import (
	_ "embed"
	"strings"
)

// Words are what the model reads: a text of the folder text. They are part of the
// program's data, so nothing is read or copied to have them.
type words string

// plain returns w without the line end of its file.
func (w words) plain() string { return strings.TrimRight(string(w), "\n") }

// fill returns w with values in the places of its variables, which pairs gives as
// name and value. A variable without a value is a bug.
func (w words) fill(pairs ...string) string {
	s, err := interpolate(w.plain(), func(name string) (string, error) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], nil
			}
		}
		return "", &Error{Fault: Unknown, Variable: name}
	})
	if err != nil {
		panic(err)
	}
	return s
}

// The texts.
var (
	//go:embed text/client.md
	clientWords words
	//go:embed text/context.md
	contextWords words
	//go:embed text/context-coordinates.md
	contextCoordinatesWords words
	//go:embed text/context-currency.md
	contextCurrencyWords words
	//go:embed text/context-disabled.md
	contextDisabledWords words
	//go:embed text/context-integrations.md
	contextIntegrationsWords words
	//go:embed text/context-location.md
	contextLocationWords words
	//go:embed text/context-name.md
	contextNameWords words
	//go:embed text/context-nowhere.md
	contextNowhereWords words
	//go:embed text/context-position.md
	contextPositionWords words
	//go:embed text/context-prompts.md
	contextPromptsWords words
	//go:embed text/context-time.md
	contextTimeWords words
	//go:embed text/context-units.md
	contextUnitsWords words
	//go:embed text/creation-allowed.md
	creationAllowedWords words
	//go:embed text/creation-denied.md
	creationDeniedWords words
	//go:embed text/creation-full.md
	creationFullWords words
	//go:embed text/creation-limited.md
	creationLimitedWords words
	//go:embed text/date.md
	dateWords words
	//go:embed text/environment.md
	environmentWords words
	//go:embed text/environment-cwd.md
	environmentCwdWords words
	//go:embed text/environment-os.md
	environmentOsWords words
	//go:embed text/environment-output.md
	environmentOutputWords words
	//go:embed text/environment-roots.md
	environmentRootsWords words
	//go:embed text/environment-shell.md
	environmentShellWords words
	//go:embed text/environment-timeout.md
	environmentTimeoutWords words
	//go:embed text/format.md
	formatWords words
	//go:embed text/format-linked.md
	formatLinkedWords words
	//go:embed text/format-registry.md
	formatRegistryWords words
	//go:embed text/identity.md
	identityWords words
	//go:embed text/identity-linked.md
	identityLinkedWords words
	//go:embed text/identity-model.md
	identityModelWords words
	//go:embed text/identity-registry.md
	identityRegistryWords words
	//go:embed text/language.md
	languageWords words
	//go:embed text/links.md
	linksWords words
	//go:embed text/lookup.md
	lookupWords words
	//go:embed text/lookup-end.md
	lookupEndWords words
	//go:embed text/lookup-notice.md
	lookupNoticeWords words
	//go:embed text/note-advice.md
	noteAdviceWords words
	//go:embed text/note-answers.md
	noteAnswersWords words
	//go:embed text/note-answers-chosen.md
	noteAnswersChosenWords words
	//go:embed text/note-answers-none.md
	noteAnswersNoneWords words
	//go:embed text/note-prompt.md
	notePromptWords words
	//go:embed text/note-skill.md
	noteSkillWords words
	//go:embed text/note-voice.md
	noteVoiceWords words
	//go:embed text/principles.md
	principlesWords words
	//go:embed text/project.md
	projectWords words
	//go:embed text/project-files.md
	projectFilesWords words
	//go:embed text/project-nameless.md
	projectNamelessWords words
	//go:embed text/project-own.md
	projectOwnWords words
	//go:embed text/project-search.md
	projectSearchWords words
	//go:embed text/recovery.md
	recoveryWords words
	//go:embed text/servers.md
	serversWords words
	//go:embed text/servers-many.md
	serversManyWords words
	//go:embed text/servers-one.md
	serversOneWords words
	//go:embed text/skills.md
	skillsWords words
	//go:embed text/skills-bare.md
	skillsBareWords words
	//go:embed text/skills-contracts.md
	skillsContractsWords words
	//go:embed text/skills-line.md
	skillsLineWords words
	//go:embed text/skills-named.md
	skillsNamedWords words
	//go:embed text/style.md
	styleWords words
	//go:embed text/trust.md
	trustWords words
	//go:embed text/web.md
	webWords words
	//go:embed text/workspace-bound.md
	workspaceBoundWords words
	//go:embed text/workspace-catalog.md
	workspaceCatalogWords words
	//go:embed text/workspace-collections.md
	workspaceCollectionsWords words
	//go:embed text/workspace-count.md
	workspaceCountWords words
	//go:embed text/workspace-described.md
	workspaceDescribedWords words
	//go:embed text/workspace-listing.md
	workspaceListingWords words
	//go:embed text/workspace-more.md
	workspaceMoreWords words
	//go:embed text/workspace-none.md
	workspaceNoneWords words
	//go:embed text/workspace-pinned.md
	workspacePinnedWords words
	//go:embed text/workspace-ref.md
	workspaceRefWords words

	//go:embed text/languages.txt
	languages string
)
