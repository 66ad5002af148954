import { InvalidInput, NotFound } from '../errors.ts';
import { nullIfBlank } from '../optional-text.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';
import { isHttpsOrLoopback } from './plugin-url.ts';

/** Commit that a source names. Without both, the client takes the default branch. */
interface PinnedCommit {
  /** Branch or tag. */
  readonly ref?: string;
  /** Commit as 40 hex digits. */
  readonly sha?: string;
}

/** Where a client gets a plugin, as in the marketplace format of Claude Code. */
export type PluginSource = PinnedCommit &
  (
    | { readonly source: 'github'; readonly repo: string }
    | { readonly source: 'url'; readonly url: string }
    | { readonly source: 'git-subdir'; readonly url: string; readonly path: string }
  );

export const SOURCE_KINDS = ['github', 'url', 'git-subdir'] as const satisfies readonly PluginSource['source'][];

/** A source whose members are not checked. Null and blank members count as absent. */
export interface SourceDraft {
  readonly source: PluginSource['source'];
  readonly repo: string | null;
  readonly url: string | null;
  readonly path: string | null;
  readonly ref: string | null;
  readonly sha: string | null;
}

export interface PluginAuthor {
  readonly name: string;
  readonly email: string | null;
}

/** A plugin of Claude Code that clients install from the marketplace. */
export interface Plugin extends Stamps {
  readonly id: string;
  /** Unique. */
  readonly name: string;
  readonly source: PluginSource;
  readonly version: string | null;
  readonly description: string | null;
  readonly author: PluginAuthor | null;
  readonly homepage: string | null;
  readonly keywords: readonly string[];
  readonly category: string | null;
  /** Grouping for administrators. Clients do not see it. */
  readonly domain: string | null;
  /** As `domain`. */
  readonly namespace: string | null;
  /** Whether the marketplace lists it. */
  readonly enabled: boolean;
}

/** A plugin to register. Null and blank texts count as absent. */
export type PluginDraft = Omit<Plugin, 'id' | 'source' | 'enabled' | keyof Stamps> & { readonly source: SourceDraft };

/** Filter of plugins. All conditions that are not null must match. */
export interface PluginFilter {
  readonly name: string | null;
  /** Text in the name, ignoring case. */
  readonly nameContains: string | null;
  readonly category: string | null;
  readonly enabled: boolean | null;
}

export const ALL_PLUGINS: PluginFilter = { name: null, nameContains: null, category: null, enabled: null };

export type PluginSort = 'created_at' | 'name';

export type PluginStore = RowStore<Plugin, PluginFilter, PluginSort>;

/** Maximum number of plugins, which bounds the size of the marketplace. */
export const MAX_PLUGINS = 1_000;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 4_000;
const MAX_SHORT_TEXT = 64;
const MAX_TEXT = 256;
const MAX_EMAIL = 320;
const MAX_URL = 2_048;
const MAX_PATH = 512;
const MAX_KEYWORDS = 50;

const KEBAB_CASE = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const REPOSITORY = /^[A-Za-z0-9][\w-]*\/[\w.-]+$/;
const PATH_SEGMENT = /^[\p{L}\p{N}_.+@() -]+$/u;
const REF = /^\w[\w./+@-]*$/;
const SHA = /^[0-9a-f]{40}$/i;
const EMAIL = /^[^\s@]+@[^\s@]+$/;
const CONTROL_OR_UNPAIRED_SURROGATE = /[\p{Cc}\p{Cs}]/u;
/** The same without line breaks and tabs. */
const UNWANTED_IN_PROSE = /(?![\n\r\t])[\p{Cc}\p{Cs}]/u;

export const unknownPlugin = (name: string): NotFound =>
  new NotFound('plugin', name, `Plugin '${name.slice(0, MAX_NAME)}' not found`);

export const pluginExists = (name: string): string => `Plugin '${name}' already exists`;

/** A text, or null for a blank one. Throws InvalidInput for one that is too long or has control characters. */
function checkedText(
  member: string,
  value: string | null,
  { max, unwanted = CONTROL_OR_UNPAIRED_SURROGATE }: { readonly max: number; readonly unwanted?: RegExp },
): string | null {
  const text = nullIfBlank(value);
  if (text === null) return null;
  if (text.length > max) throw new InvalidInput(`${member} must have at most ${max} characters`);
  if (unwanted.test(text)) throw new InvalidInput(`${member} must have no control character and no unpaired surrogate`);
  return text;
}

/** As `checkedText`, for a text that must not be blank. */
function requiredText(member: string, value: string | null, max: number): string {
  const text = checkedText(member, value, { max });
  if (text === null) throw new InvalidInput(`${member} must not be empty`);
  return text;
}

function checkedName(name: string): string {
  if (name.length > MAX_NAME || !KEBAB_CASE.test(name))
    throw new InvalidInput(
      `name must be kebab-case, such as my-plugin: lower-case letters, digits and hyphens, at most ${MAX_NAME} characters`,
    );
  return name;
}

function checkedUrl(member: string, value: string | null): string {
  const url = requiredText(member, value, MAX_URL);
  if (!isHttpsOrLoopback(url))
    throw new InvalidInput(
      `${member} must be an https:// address without user name and password; http:// is for loopback addresses only`,
    );
  return url;
}

/** Address of a repository. A query could have a token, which the public marketplace would show. */
function checkedRepositoryUrl(value: string | null): string {
  const url = checkedUrl('source.url', value);
  if (/[?#]/.test(url)) throw new InvalidInput('source.url must have no query and no fragment');
  return url;
}

function checkedRepository(value: string | null): string {
  const repo = requiredText('source.repo', value, MAX_TEXT);
  if (!REPOSITORY.test(repo) || /\/\.{1,2}$/.test(repo))
    throw new InvalidInput('source.repo must be owner/repository, such as org/my-plugin');
  return repo;
}

/** Path of a folder inside a repository. */
function checkedPath(value: string | null): string {
  const path = requiredText('source.path', value, MAX_PATH);
  const isInside = path.split('/').every((segment) => PATH_SEGMENT.test(segment) && segment !== '..');
  if (!isInside || path.startsWith('-'))
    throw new InvalidInput('source.path must be a relative path inside the repository, such as plugins/my-plugin');
  return path;
}

function checkedCommit(draft: SourceDraft): PinnedCommit {
  const ref = checkedText('source.ref', draft.ref, { max: MAX_TEXT });
  if (ref !== null && (!REF.test(ref) || ref.includes('..')))
    throw new InvalidInput('source.ref must be the name of a branch or tag');
  const sha = checkedText('source.sha', draft.sha, { max: MAX_TEXT });
  if (sha !== null && !SHA.test(sha)) throw new InvalidInput('source.sha must be a commit: 40 hex digits');
  return { ...(ref === null ? {} : { ref }), ...(sha === null ? {} : { sha }) };
}

/** Members of each kind of source, besides `ref` and `sha`. */
const MEMBERS: Readonly<Record<PluginSource['source'], readonly (keyof SourceDraft)[]>> = {
  github: ['repo'],
  url: ['url'],
  'git-subdir': ['url', 'path'],
};

/** Throws InvalidInput, also for a member that the kind of source does not have: a client would ignore it. */
function checkedSource(draft: SourceDraft): PluginSource {
  const { source } = draft;
  const foreign = (['repo', 'url', 'path'] as const).find(
    (member) => nullIfBlank(draft[member]) !== null && !MEMBERS[source].includes(member),
  );
  if (foreign !== undefined) throw new InvalidInput(`source.${foreign} is not a member of a source '${source}'`);
  const commit = checkedCommit(draft);
  switch (source) {
    case 'github':
      return { source, repo: checkedRepository(draft.repo), ...commit };
    case 'url':
      return { source, url: checkedRepositoryUrl(draft.url), ...commit };
    case 'git-subdir':
      return { source, url: checkedRepositoryUrl(draft.url), path: checkedPath(draft.path), ...commit };
  }
}

function checkedAuthor(author: PluginAuthor): PluginAuthor {
  const email = checkedText('author.email', author.email, { max: MAX_EMAIL });
  if (email !== null && !EMAIL.test(email)) throw new InvalidInput('author.email must be an address');
  return { name: requiredText('author.name', author.name, MAX_TEXT), email };
}

function checkedKeywords(keywords: readonly string[]): readonly string[] {
  if (keywords.length > MAX_KEYWORDS) throw new InvalidInput(`keywords must have at most ${MAX_KEYWORDS} texts`);
  return keywords.map((keyword) => requiredText('keywords', keyword, MAX_SHORT_TEXT));
}

/** Content of a plugin, checked. Throws InvalidInput. */
type PluginContent = Omit<Plugin, 'id' | 'enabled' | keyof Stamps>;

export const checkedPlugin = (draft: PluginDraft): PluginContent => ({
  name: checkedName(draft.name),
  source: checkedSource(draft.source),
  version: checkedText('version', draft.version, { max: MAX_SHORT_TEXT }),
  description: checkedText('description', draft.description, { max: MAX_DESCRIPTION, unwanted: UNWANTED_IN_PROSE }),
  author: draft.author === null ? null : checkedAuthor(draft.author),
  homepage: nullIfBlank(draft.homepage) === null ? null : checkedUrl('homepage', draft.homepage),
  keywords: checkedKeywords(draft.keywords),
  category: checkedText('category', draft.category, { max: MAX_SHORT_TEXT }),
  domain: checkedText('domain', draft.domain, { max: MAX_TEXT }),
  namespace: checkedText('namespace', draft.namespace, { max: MAX_TEXT }),
});

/** A new plugin, which is enabled. */
export const newPlugin = (content: PluginContent, about: Authored & { readonly id: string }): Plugin => ({
  id: about.id,
  ...content,
  enabled: true,
  ...newStamps(about),
});

/** A plugin with other content. A disabled plugin stays disabled. */
export const replacedPlugin = (plugin: Plugin, content: PluginContent, { now, by }: Authored): Plugin => ({
  ...plugin,
  ...content,
  updatedAt: now,
  updatedBy: by,
});
