import { Conflict } from '../../domain/errors.ts';
import type { ParamReader } from '../../domain/guardrails/guardrails.ts';
import {
  newSearchTool,
  type OpenSearchTool,
  patchedSearchTool,
  type SearchTool,
  type SearchTools,
  type SearchToolStore,
  type StoredSearchTool,
  toolExists,
  toolOfFile,
} from '../../domain/search-tools/search-tool.ts';
import { REDACTED } from '../../domain/settings/redaction.ts';
import { type Cipher, cipherFor, type Secrets } from '../credentials/encryption.ts';
import { createJsonSealer } from '../credentials/json-sealer.ts';
import { orderedReads } from '../tasks/ordered-reads.ts';

interface SearchToolOptions {
  /** Tools of the configuration file. */
  readonly configured: readonly SearchTool[];
  readonly readParams: ParamReader;
  readonly store: SearchToolStore;
  /** Secrets from which the encryption keys for stored params are derived. */
  readonly salt: Secrets;
  readonly log: { warn(facts: object, event: string): void };
}

/** Search tools of the configuration file and of the database, in memory. */
export function createSearchTools({ configured, readParams, store, salt, log }: SearchToolOptions): SearchTools {
  const sealer = createJsonSealer<SearchTool['params']>(searchToolCipher(salt), (id) => {
    log.warn({ id }, 'A search tool has no parameters: they were encrypted with another salt key.');
  });
  /** Ids of stored rows whose params cannot be decrypted. */
  const unreadable = new Set<string>();
  let fromFile: readonly SearchTool[] = configured;
  let stored: readonly SearchTool[] = [];
  /** Counts the calls of names with several tools, so that these tools take turns as the first one. */
  let sharedCalls = 0;

  /** Decrypts the params of a row, and notes in `unreadable` whether that failed. Such a tool has no params. */
  function load({ sealed, createdBy: _by, updatedBy: _updatedBy, ...row }: StoredSearchTool): SearchTool {
    const params = sealer.open(row.id, sealed);
    if (params === null) unreadable.add(row.id);
    else unreadable.delete(row.id);
    return { ...row, params: params ?? {}, isFromConfig: false };
  }

  const sealedRow = ({ params, ...row }: OpenSearchTool): StoredSearchTool => ({
    ...row,
    sealed: sealer.seal(row.id, params),
  });

  const refresh = orderedReads(
    () => store.all(null),
    (rows) => {
      stored = rows.map(load);
    },
  );

  const isInFile = (name: string): boolean => fromFile.some((one) => one.name === name);

  /** Throws Conflict for the id of a tool of the configuration file. */
  function assertNotOfFile(id: string): void {
    const found = fromFile.find((one) => one.id === id);
    if (found !== undefined) throw toolOfFile(found.name);
  }

  /** All tools. A tool of the file hides stored tools with the same name. */
  const current = (): readonly SearchTool[] => [...fromFile, ...stored.filter(({ name }) => !isInFile(name))];

  return {
    list: current,
    named(name) {
      const found = current().filter((tool) => tool.name === name);
      if (found.length > 1) sharedCalls = (sharedCalls + 1) % Number.MAX_SAFE_INTEGER;
      const first = found.length > 1 ? sharedCalls % found.length : 0;
      const inTurn = [...found.slice(first), ...found.slice(0, first)];
      return inTurn.map((tool) => ({ ...tool, params: readParams(tool.params) }));
    },
    resolved: (params) => readParams(params),
    accountFault(id) {
      const found = current().find((one) => one.id === id);
      if (found === undefined) return null;
      if (!found.isFromConfig && unreadable.has(id))
        return `The parameters of the search tool ${found.name} were encrypted with another salt key.`;
      const params = readParams(found.params);
      // A reference to a variable that is not set reads as null.
      const unset = ['api_base', 'api_key'].find(
        (member) => (found.params[member] ?? null) !== null && params[member] === null,
      );
      return unset === undefined
        ? null
        : `The ${unset} of the search tool ${found.name} names a variable that is not set.`;
    },
    async add(draft, by) {
      if (isInFile(draft.name)) throw toolExists(draft.name);
      const row = sealedRow(newSearchTool(draft, by));
      await store.add(row);
      await refresh();
      return load(row);
    },
    async change(id, patch, by) {
      assertNotOfFile(id);
      if (patch.name !== undefined && isInFile(patch.name)) throw toolExists(patch.name);
      const changed = await store.change(id, (row) => {
        const { sealed, ...rest } = row;
        const params = sealer.open(id, sealed);
        const isReplaced = patch.params !== undefined && !JSON.stringify(patch.params).includes(`"${REDACTED}"`);
        // A redacted secret keeps its stored value, which cannot be decrypted here.
        if (params === null && !isReplaced)
          throw new Conflict(
            'The parameters of this search tool were encrypted with another salt key. Send all of them, with secrets.',
          );
        return sealedRow(patchedSearchTool({ ...rest, params: params ?? {} }, patch, by));
      });
      await refresh();
      return changed === null ? null : load(changed.after);
    },
    async remove(id) {
      assertNotOfFile(id);
      const [removed] = await store.remove([id]);
      await refresh();
      return removed === undefined ? null : load(removed);
    },
    configure(next) {
      fromFile = next;
    },
    refresh,
  };
}

/** Encrypts the parameters of search tools. */
export const searchToolCipher = (salt: Secrets): Cipher => cipherFor(salt, 'search tools');
