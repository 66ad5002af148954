import { Conflict } from '../../domain/errors.ts';
import type { GuardrailDefinition } from '../../domain/guardrails/definition.ts';
import { type Guardrails, type ParamReader, UNREADABLE_KIND } from '../../domain/guardrails/guardrails.ts';
import {
  type GuardrailStore,
  newGuardrail,
  type OpenGuardrail,
  patchedGuardrail,
  type StoredGuardrail,
} from '../../domain/guardrails/stored-guardrail.ts';
import type { Secret } from '../../domain/secret.ts';
import { keyFor, open, seal } from '../credentials/encryption.ts';

type Params = GuardrailDefinition['params'];

/** Encrypts the params of stored guardrails. */
interface ParamSeal {
  seal(id: string, params: Params): string;
  /** Null when they were encrypted with another salt key. */
  open(row: StoredGuardrail): Params | null;
}

interface GuardrailOptions {
  /** Guardrails of the configuration file. */
  readonly configured: readonly GuardrailDefinition[];
  readonly readParams: ParamReader;
  readonly store: GuardrailStore;
  /** The params are encrypted with a key derived from it. */
  readonly saltKey: Secret;
  readonly log: { warn(facts: object, event: string): void };
}

/** A stored guardrail, and whether its params could be decrypted. */
interface Shown {
  readonly definition: GuardrailDefinition;
  readonly isReadable: boolean;
}

/** Guardrails in memory over their store. */
export function createGuardrails({
  configured: ofStart,
  readParams,
  store,
  saltKey,
  log,
}: GuardrailOptions): Guardrails {
  const params = paramSeal(saltKey);
  const warned = new Set<string>();
  let configured = ofStart;
  let stored: readonly Shown[] = [];
  let definitions: readonly GuardrailDefinition[] = [];
  /** What `stored` was made of. */
  let revision = '[]';
  /** Number of reads begun, and of the latest that is in use: an older read never replaces a newer one. */
  let startedReads = 0;
  let inUse = 0;

  function compile(): void {
    definitions = [
      ...configured.map((one) => ({ ...one, params: readParams(one.params) })),
      ...stored.map(({ definition, isReadable }) => ({
        ...definition,
        kind: isReadable ? definition.kind : UNREADABLE_KIND,
        params: readParams(definition.params),
      })),
    ];
  }

  function shown(row: StoredGuardrail): Shown {
    const opened = params.open(row);
    if (opened === null && !warned.has(row.id)) {
      warned.add(row.id);
      log.warn({ id: row.id }, 'A guardrail cannot run: its parameters were encrypted with another salt key.');
    }
    const { id, name, kind, modes, defaultOn, info, teamId, createdAt, updatedAt } = row;
    const common = { id, name, kind, modes, defaultOn, info, teamId, createdAt, updatedAt, isFromConfig: false };
    const bare = { guardrail: kind, mode: modes, default_on: defaultOn };
    return { definition: { ...common, params: opened ?? bare }, isReadable: opened !== null };
  }

  async function refresh(): Promise<void> {
    const turn = (startedReads += 1);
    const rows = await store.all(null);
    if (turn < inUse) return;
    inUse = turn;
    // A sealed text is never the same twice, so that it tells every change of the params.
    const next = JSON.stringify(rows.map(({ id, name, sealed, updatedAt }) => [id, name, sealed, updatedAt]));
    if (next === revision) return;
    revision = next;
    stored = rows.map(shown);
    compile();
  }

  /** Names in the file cannot be unique in the database. */
  function assertFree(name: string): void {
    if (configured.some((one) => one.name === name))
      throw new Conflict(`Guardrail '${name}' already exists in the configuration file`);
  }

  const closed = ({ params: opened, ...row }: OpenGuardrail): StoredGuardrail => ({
    ...row,
    sealed: params.seal(row.id, opened),
  });

  compile();
  return {
    definitions: () => definitions,
    list: () => [...configured, ...stored.map(({ definition }) => definition)],
    async add({ id, ...draft }, by) {
      const row = closed(newGuardrail(draft, { ...by, id }));
      assertFree(row.name);
      await store.add(row);
      await refresh();
      return shown(row).definition;
    },
    async change(id, patch, by) {
      const changed = await store.change(id, (row) => {
        const { sealed: _sealed, ...rest } = row;
        const after = patchedGuardrail({ ...rest, params: params.open(row) ?? {} }, patch, by);
        if (after.name !== row.name) assertFree(after.name);
        return closed(after);
      });
      await refresh();
      return changed === null ? null : shown(changed.after).definition;
    },
    async remove(id) {
      const [gone] = await store.remove([id]);
      await refresh();
      return gone === undefined ? null : shown(gone).definition;
    },
    configure(next) {
      configured = next;
      compile();
    },
    refresh,
  };
}

function paramSeal(saltKey: Secret): ParamSeal {
  const key = keyFor(saltKey, 'stored guardrails');
  return {
    seal: (id, params) => seal(key, Buffer.from(JSON.stringify(params)), id).toString('base64'),
    open({ id, sealed }) {
      const plain = open(key, Buffer.from(sealed, 'base64'), id);
      return plain === null ? null : (JSON.parse(plain.toString('utf8')) as Params);
    },
  };
}
