import { Conflict } from '../../domain/errors.ts';
import {
  assertPromptId,
  environmentOf,
  namedVersion,
  type ParsedPrompt,
  type Prompts,
  type PromptStore,
  type PromptVersion,
  type StoredPrompt,
  templateIn,
  versionId,
} from '../../domain/prompts/prompt.ts';
import { newStamps } from '../../domain/row-store.ts';
import { createRowCache } from '../row-cache.ts';
import { parseDotprompt } from './dotprompt.ts';

interface PromptOptions {
  readonly configured: readonly PromptVersion[];
  readonly store: PromptStore;
}

/** Attempts to store a version whose number another request has just taken. */
const ATTEMPTS = 5;

/** Prompts in memory over their rows. */
export function createPrompts({ configured, store }: PromptOptions): Prompts {
  let fromFile = configured;
  const rows = createRowCache(store);
  /** Parsed templates by the parameters that contain them. A changed version has other parameters. */
  const parsedByParams = new WeakMap<PromptVersion['params'], ParsedPrompt>();

  const isOfFile = (id: string): boolean => fromFile.some(({ promptId }) => promptId === id);
  const loaded = (row: StoredPrompt): PromptVersion => ({ ...row, isFromConfig: false });

  function parsed({ params, promptId }: Pick<PromptVersion, 'params' | 'promptId'>): ParsedPrompt {
    const known = parsedByParams.get(params) ?? parseDotprompt(templateIn(params, promptId));
    parsedByParams.set(params, known);
    return known;
  }

  async function nextVersion(promptId: string): Promise<number> {
    await rows.refresh();
    const numbers = rows.rows().flatMap((row) => (row.promptId === promptId ? [row.version] : []));
    return Math.max(0, ...numbers) + 1;
  }

  return {
    list: () => [...fromFile, ...rows.rows().flatMap((row) => (isOfFile(row.promptId) ? [] : [loaded(row)]))],
    parse: parseDotprompt,
    parsed,
    async add({ promptId, params, info }, by) {
      assertPromptId(promptId);
      if (isOfFile(promptId)) throw ofFile(promptId);
      parsed({ params, promptId });
      const environment = environmentOf(info);
      for (let attempt = 1; ; attempt += 1) {
        // oxlint-disable-next-line no-await-in-loop -- an attempt follows a failed one
        const version = await nextVersion(promptId);
        const id = versionId(promptId, version);
        const row = {
          id,
          promptId,
          version,
          params,
          info: info ?? { prompt_type: 'db' },
          environment,
          ...newStamps(by),
        };
        try {
          // oxlint-disable-next-line no-await-in-loop -- an attempt follows a failed one
          await store.add(row);
        } catch (error) {
          if (!(error instanceof Conflict) || attempt === ATTEMPTS) throw error;
          continue;
        }
        // oxlint-disable-next-line no-await-in-loop -- the last step
        await rows.refresh();
        return loaded(row);
      }
    },
    async change(id, { params, info }, { now, by }) {
      const { promptId: named } = namedVersion(id);
      if (isOfFile(named)) throw ofFile(named);
      const changed = await store.change(id, (row) => {
        if (params !== undefined) parsed({ params, promptId: row.promptId });
        return {
          ...row,
          ...(params === undefined ? {} : { params }),
          ...(info === undefined ? {} : { info: info ?? {}, environment: environmentOf(info) }),
          updatedAt: now,
          updatedBy: by,
        };
      });
      await rows.refresh();
      return changed === null ? null : loaded(changed.after);
    },
    async remove(promptId) {
      if (isOfFile(promptId)) throw ofFile(promptId);
      await rows.refresh();
      const ids = rows.rows().flatMap((row) => (row.promptId === promptId ? [row.id] : []));
      const removed = await store.remove(ids);
      await rows.refresh();
      return removed.map(loaded);
    },
    configure(next) {
      fromFile = next;
    },
    refresh: () => rows.refresh(),
  };
}

const ofFile = (id: string): Conflict =>
  new Conflict(`The prompt ${id} is in the configuration file. Change it there.`);
