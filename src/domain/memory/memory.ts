import type { Caller } from '../caller.ts';
import { Conflict, Forbidden, InvalidInput, NotFound } from '../errors.ts';
import { nullIfBlank } from '../optional-text.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';
import { hasUnstorableCharacter } from '../unstorable-json.ts';
import { DEFAULT_USER_ID } from '../users/user.ts';

/** A text that a client stores for a user or a team, by a name. */
export interface Memory extends Stamps {
  readonly id: string;
  /** `key` in the HTTP API. Unique among the entries of an owner. */
  readonly name: string;
  readonly value: string;
  /** Any JSON value; null without one. */
  readonly metadata: unknown;
  /** User that owns the entry; null when a team owns it. */
  readonly userId: string | null;
  /** Team that owns the entry. When a user owns it: the team of the key that created it. This team gets no rights. */
  readonly teamId: string | null;
  /** Owner as one text: `user:` or `team:` and the id. */
  readonly owner: string;
}

/** Filter of entries. All conditions that are not null must match. */
export interface MemoryFilter {
  readonly owners: readonly string[] | null;
  readonly name: string | null;
  readonly namePrefix: string | null;
  /** Beginning of the name, or the whole id. */
  readonly search: string | null;
}

export const ALL_MEMORY: MemoryFilter = { owners: null, name: null, namePrefix: null, search: null };

export type MemorySort = 'created_at' | 'name';

export interface MemoryStore extends RowStore<Memory, MemoryFilter, MemorySort> {
  /**
   * Runs work after such work that runs already, also of other processes. Throws Unavailable after a wait of a minute.
   */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Owner that a request names. */
export interface NamedOwner {
  /** Absent: the user of the caller. Null: no user. */
  readonly userId?: string | null;
  /** Absent: the team of the caller. Null: no team. */
  readonly teamId?: string | null;
}

/** Content of an entry. */
export interface MemoryDraft extends NamedOwner {
  readonly name: string;
  readonly value: string;
  readonly metadata: unknown;
}

/** Changes to an entry. An absent member is unchanged. */
export interface MemoryPatch {
  readonly value?: string;
  readonly metadata?: unknown;
}

/** Maximum number of entries of one owner. */
export const MAX_ENTRIES = 10_000;
/**
 * From this number of entries of an owner on, new entries of all owners are added one after another. So none exceeds
 * the limit.
 */
const MANY_ENTRIES = MAX_ENTRIES / 2;
/** Maximum number of rows of one read: a page of the default size of 50, and one row more. */
const MAX_ROWS_OF_READ = 51;
/** Maximum number of characters of the values and metadata that one request reads. */
const MAX_PAGE_CHARACTERS = 32 * 1024 * 1024;
const MAX_NAME_CHARACTERS = 512;
const MAX_VALUE_CHARACTERS = 256 * 1024;
const MAX_METADATA_CHARACTERS = 64 * 1024;

export const unknownMemory = (name: string): NotFound =>
  new NotFound('memory', name, `Memory with key '${name}' not found`);

export const memoryExists = (name: string): Conflict => new Conflict(`Memory with key '${name}' already exists`);

const userOf = ({ userId, key }: Caller): string | null =>
  nullIfBlank(userId) ?? (key === null ? DEFAULT_USER_ID : null);
const teamOf = ({ teamId }: Caller): string | null => nullIfBlank(teamId);

/** `owner` of an entry: its user, or its team when it has no user. */
const ownerText = (userId: string | null, teamId: string | null): string =>
  userId === null ? `team:${teamId}` : `user:${userId}`;

/** Owners whose entries a caller may use: its user, then its team. A name is looked up in this order. */
export function ownersOf(caller: Caller): readonly string[] {
  const [user, team] = [userOf(caller), teamOf(caller)];
  return [...(user === null ? [] : [`user:${user}`]), ...(team === null ? [] : [`team:${team}`])];
}

/**
 * User, team and owner of a new entry. Throws Forbidden when a caller who is no administrator names another user or
 * team. Throws InvalidInput when the entry has neither a user nor a team.
 */
export function ownerOfDraft(caller: Caller, named: NamedOwner): Pick<Memory, 'userId' | 'teamId' | 'owner'> {
  // Read-only administrators may name an owner to read from. Access rules refuse their writes.
  const isAdmin = caller.role === 'proxy_admin' || caller.role === 'proxy_admin_viewer';
  const [user, team] = [userOf(caller), teamOf(caller)];
  // The team owns the entry when an administrator names a team and no user.
  const defaultUser = isAdmin && nullIfBlank(named.teamId) !== null ? null : user;
  const userId = named.userId === undefined ? defaultUser : nullIfBlank(named.userId);
  const teamId = named.teamId === undefined ? team : nullIfBlank(named.teamId);
  const isOwn = (userId === null || userId === user) && (teamId === null || teamId === team);
  if (!isAdmin && !isOwn)
    throw new Forbidden('Only proxy admins can use the memory of another user or team.', 'memory_owner');
  if (userId === null && teamId === null)
    throw new InvalidInput('The key has neither a user nor a team that can own the memory.');
  for (const [member, id] of [
    ['user_id', userId],
    ['team_id', teamId],
  ] as const)
    if (id !== null) assertText(member, id, MAX_NAME_CHARACTERS);
  return { userId, teamId, owner: ownerText(userId, teamId) };
}

const NUL_OR_UNPAIRED_SURROGATE = /[\0\p{Cs}]/u;
const CONTROL = /\p{Cc}/u;

function assertText(member: string, text: string, max: number): void {
  if (text.length > max) throw new InvalidInput(`${member} must have at most ${max} characters`);
  if (NUL_OR_UNPAIRED_SURROGATE.test(text))
    throw new InvalidInput(`${member} must have no NUL character and no unpaired surrogate`);
}

/** Returns the entry unchanged. Throws InvalidInput for an entry that cannot be stored. */
function validated(entry: Memory): Memory {
  const { name, value, metadata } = entry;
  if (name.trim() === '') throw new InvalidInput('key must not be empty');
  assertText('key', name, MAX_NAME_CHARACTERS);
  if (CONTROL.test(name)) throw new InvalidInput('key must have no control character');
  assertText('value', value, MAX_VALUE_CHARACTERS);
  const json = JSON.stringify(metadata);
  if (json.length > MAX_METADATA_CHARACTERS)
    throw new InvalidInput(`metadata must have at most ${MAX_METADATA_CHARACTERS} characters as JSON`);
  if (hasUnstorableCharacter(json))
    throw new InvalidInput('metadata must have no NUL character and no unpaired surrogate');
  return entry;
}

/** A new entry. Throws Forbidden and InvalidInput. */
export function newMemory(
  caller: Caller,
  { name, value, metadata, ...named }: MemoryDraft,
  about: Authored & { readonly id: string },
): Memory {
  const owner = ownerOfDraft(caller, named);
  return validated({ id: about.id, name, value, metadata, ...owner, ...newStamps(about) });
}

/** An entry with a patch applied. Throws InvalidInput. */
export const patchedMemory = (entry: Memory, patch: MemoryPatch, { now, by }: Authored): Memory =>
  validated({ ...entry, ...patch, updatedAt: now, updatedBy: by });

/**
 * Stores a new entry. Throws Conflict when its owner has the name, and InvalidInput when its owner has the maximum
 * number of entries.
 */
export async function addWithinLimit(store: MemoryStore, entry: Memory): Promise<void> {
  const filter = { ...ALL_MEMORY, owners: [entry.owner] };
  const add = async (count: number): Promise<void> => {
    if (count >= MAX_ENTRIES)
      throw new InvalidInput(`A user or team has at most ${MAX_ENTRIES} memories. Delete some.`);
    await store.add(entry);
  };
  if ((await store.count({ ...filter, name: entry.name })) > 0) throw memoryExists(entry.name);
  const count = await store.count(filter);
  if (count < MANY_ENTRIES) return await add(count);
  await store.exclusively(async () => add(await store.count(filter)));
}

/** Entries that one request reads, one read after another. */
export interface MemoryReads {
  /** Characters of the entries that were read so far. */
  characters: number;
  last: Promise<unknown>;
  /** Starts again, for the next event of a subscription. */
  clearAll(): void;
}

export const newMemoryReads = (): MemoryReads => ({
  characters: 0,
  last: Promise.resolve(),
  clearAll() {
    this.characters = 0;
  },
});

const lengthOf = ({ value, metadata }: Memory): number =>
  value.length + (metadata === null ? 0 : JSON.stringify(metadata).length);

/** Counts entries. Throws InvalidInput when the request has read too many characters. */
function countRead(reads: MemoryReads, rows: readonly Memory[]): void {
  reads.characters += rows.reduce((sum, row) => sum + lengthOf(row), 0);
  if (reads.characters > MAX_PAGE_CHARACTERS)
    throw new InvalidInput(`A page has at most ${MAX_PAGE_CHARACTERS} characters. Read fewer memories at once.`);
}

/**
 * The same rows, read in steps: long values are refused before they fill the memory. The limit applies to all reads of
 * a request together, such as aliased fields of one graph operation. `list` and `findMany` throw InvalidInput.
 */
export function withBoundedReads(
  store: Pick<MemoryStore, 'list' | 'count' | 'findMany'>,
  reads: MemoryReads,
): Pick<MemoryStore, 'list' | 'count' | 'findMany'> {
  /** Runs a read after the earlier ones of the request, so that no two fill the memory at the same time. */
  function afterOthers<Result>(read: () => Promise<Result>): Promise<Result> {
    const reading = reads.last.then(read);
    reads.last = reading.catch(() => undefined);
    return reading;
  }

  return {
    count: (filter) => store.count(filter),
    findMany: (ids) =>
      afterOthers(async () => {
        const rows: Memory[] = [];
        for (let at = 0; at < ids.length; at += MAX_ROWS_OF_READ) {
          const some = await store.findMany(ids.slice(at, at + MAX_ROWS_OF_READ));
          countRead(reads, some);
          rows.push(...some);
        }
        return rows;
      }),
    list: ({ from: start, limit, ...page }) =>
      afterOthers(async () => {
        const rows: Memory[] = [];
        for (let from = start; rows.length < limit;) {
          const step = Math.min(MAX_ROWS_OF_READ, limit - rows.length);
          const some = await store.list({ ...page, from, limit: step });
          countRead(reads, some);
          rows.push(...some);
          const last = some.at(-1);
          if (last === undefined || some.length < step) break;
          if (typeof from === 'number') from += some.length;
          else from = page.sort === 'created_at' ? last : { text: last.name, id: last.id };
        }
        return rows;
      }),
  };
}
