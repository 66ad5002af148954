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

/** Search tools in memory over their rows. */
export function createSearchTools({ configured, readParams, store, salt, log }: SearchToolOptions): SearchTools {
  const sealer = createJsonSealer<SearchTool['params']>(searchToolCipher(salt), (id) => {
    log.warn({ id }, 'A search tool has no parameters: they were encrypted with another salt key.');
  });
  /** Ids of stored rows whose params cannot be decrypted. */
  const unreadable = new Set<string>();
  let fromFile: readonly SearchTool[] = configured;
  let stored: readonly SearchTool[] = [];
  /** Number of calls, which decides the tool that a call begins with. */
  let calls = 0;

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

  /** Tools of the file hide stored ones with their name. */
  const current = (): readonly SearchTool[] => [...fromFile, ...stored.filter(({ name }) => !isInFile(name))];

  return {
    list: current,
    named(name) {
      const found = current().filter((one) => one.name === name);
      if (found.length > 1) calls = (calls + 1) % Number.MAX_SAFE_INTEGER;
      const start = found.length > 1 ? calls % found.length : 0;
      return [...found.slice(start), ...found.slice(0, start)].map((one) => ({
        ...one,
        params: readParams(one.params),
      }));
    },
    resolved: (params) => readParams(params),
    accountFault(id) {
      const found = current().find((one) => one.id === id);
      if (found === undefined) return null;
      if (!found.isFromConfig && unreadable.has(id))
        return `The parameters of the search tool ${found.name} were encrypted with another salt key.`;
      const params = readParams(found.params);
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
        // Without the stored params, a patch would lose them.
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
