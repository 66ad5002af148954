import { Conflict, InvalidInput } from '../../domain/errors.ts';
import type { GuardrailDefinition } from '../../domain/guardrails/definition.ts';
import { type Guardrails, type ParamReader, UNREADABLE_KIND } from '../../domain/guardrails/guardrails.ts';
import {
  type GuardrailStore,
  newGuardrail,
  type OpenGuardrail,
  patchedGuardrail,
  type StoredGuardrail,
} from '../../domain/guardrails/stored-guardrail.ts';
import { hasRedacted } from '../../domain/settings/redaction.ts';
import { type Cipher, cipherFor, type Secrets } from '../credentials/encryption.ts';
import { createJsonSealer } from '../credentials/json-sealer.ts';
import { orderedReads } from '../tasks/ordered-reads.ts';

type Params = GuardrailDefinition['params'];

interface GuardrailOptions {
  /** Guardrails of the configuration file. */
  readonly configured: readonly GuardrailDefinition[];
  readonly readParams: ParamReader;
  readonly store: GuardrailStore;
  /** Secrets from which the encryption keys for stored params are derived. */
  readonly salt: Secrets;
  readonly log: { warn(facts: object, event: string): void };
}

/** A guardrail of the configuration file or the store. */
interface LoadedGuardrail {
  /**
   * Differs after each change of a stored guardrail, because its params are encrypted again. Empty for a guardrail of
   * the file.
   */
  readonly version: string;
  /** The definition as configured: its params refer to variables. */
  readonly shown: GuardrailDefinition;
  /** The definition that runs: its params have the values of the variables. */
  readonly run: GuardrailDefinition;
}

const versionOf = ({ id, name, sealed, info, updatedAt }: StoredGuardrail): string =>
  JSON.stringify([id, name, sealed, info, updatedAt]);

/** Guardrails in memory over their store. */
export function createGuardrails({ configured, readParams, store, salt, log }: GuardrailOptions): Guardrails {
  const paramsSealer = createJsonSealer<Params>(guardrailCipher(salt), (id) => {
    log.warn({ id }, 'A guardrail cannot run: its parameters were encrypted with another salt key.');
  });
  let fromFile: readonly LoadedGuardrail[] = [];
  /** Why a guardrail cannot run. `refuseFaulty` sets the check. */
  let faultOf: (definition: GuardrailDefinition) => string | null = () => null;
  let stored: readonly LoadedGuardrail[] = [];
  let definitions: readonly GuardrailDefinition[] = [];

  const running = (): readonly GuardrailDefinition[] => [...fromFile, ...stored].map(({ run }) => run);

  function load(row: StoredGuardrail): LoadedGuardrail {
    const opened = paramsSealer.open(row.id, row.sealed);
    const { id, name, kind, modes, defaultOn, info, teamId, createdAt, updatedAt } = row;
    const common = { id, name, modes, defaultOn, info, teamId, createdAt, updatedAt, isFromConfig: false };
    const shown = { ...common, kind, params: opened ?? { guardrail: kind, mode: modes, default_on: defaultOn } };
    const run = opened === null ? { ...shown, kind: UNREADABLE_KIND } : { ...shown, params: readParams(opened) };
    return { version: versionOf(row), shown, run };
  }

  /** Replaces the stored guardrails. Unchanged ones stay the same objects. */
  function use(rows: readonly StoredGuardrail[]): void {
    const before = new Map(stored.map((one) => [one.version, one]));
    const next = rows.map((row) => before.get(versionOf(row)) ?? load(row));
    if (next.length === stored.length && next.every((one, at) => one === stored[at])) return;
    stored = next;
    definitions = running();
  }

  const refresh = orderedReads(() => store.all(null), use);

  function configure(next: readonly GuardrailDefinition[]): void {
    fromFile = next.map((shown) => ({ version: '', shown, run: { ...shown, params: readParams(shown.params) } }));
    definitions = running();
  }

  /** Reads all params again, with the current values of the variables. */
  function resolve(): void {
    const withCurrentParams = (one: LoadedGuardrail): LoadedGuardrail =>
      one.run.kind === UNREADABLE_KIND ? one : { ...one, run: { ...one.run, params: readParams(one.shown.params) } };
    fromFile = fromFile.map(withCurrentParams);
    stored = stored.map(withCurrentParams);
    definitions = running();
  }

  /** Throws InvalidInput for settings with which the guardrail cannot run. */
  function assertRuns(opened: OpenGuardrail): void {
    const fault = faultOf({ ...opened, params: readParams(opened.params), isFromConfig: false });
    if (fault !== null) throw new InvalidInput(`Guardrail configuration error: ${fault}`);
  }

  /** Checks a name against the configuration file, which the database cannot do. Throws Conflict. */
  function assertFree(name: string): void {
    if (fromFile.some(({ shown }) => shown.name === name))
      throw new Conflict(`The name '${name}' is that of a guardrail of the configuration file`);
  }

  const sealedRow = ({ params, ...row }: OpenGuardrail): StoredGuardrail => ({
    ...row,
    sealed: paramsSealer.seal(row.id, params),
  });

  configure(configured);
  return {
    definitions: () => definitions,
    list: () => [...fromFile, ...stored].map(({ shown }) => shown),
    async add({ id, ...draft }, by) {
      const opened = newGuardrail(draft, { ...by, id });
      assertRuns(opened);
      const row = sealedRow(opened);
      assertFree(row.name);
      await store.add(row);
      await refresh();
      return load(row).shown;
    },
    async change(id, patch, by) {
      const changed = await store.change(id, (row) => {
        const { sealed: _sealed, ...rest } = row;
        const params = paramsSealer.open(row.id, row.sealed);
        const isReplaced = patch.params !== undefined && !hasRedacted(patch.params);
        // Without the stored params, a patch would lose the members that it does not send, and redacted secrets.
        if (params === null && !isReplaced)
          throw new Conflict(
            'The parameters of this guardrail were encrypted with another salt key. Send all of them, with secrets.',
          );
        const after = patchedGuardrail({ ...rest, params: params ?? {} }, patch, by);
        assertRuns(after);
        if (after.name !== row.name) assertFree(after.name);
        return sealedRow(after);
      });
      await refresh();
      return changed === null ? null : load(changed.after).shown;
    },
    async remove(id) {
      const [removed] = await store.remove([id]);
      await refresh();
      return removed === undefined ? null : load(removed).shown;
    },
    refuseFaulty(check) {
      faultOf = check;
    },
    configure,
    resolve,
    refresh,
  };
}

/** Encrypts the parameters of stored guardrails. */
export const guardrailCipher = (salt: Secrets): Cipher => cipherFor(salt, 'stored guardrails');
