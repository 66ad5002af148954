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

/** Maximum attempts to store a version. An attempt fails when another request stores the same number first. */
const MAX_ATTEMPTS = 5;

/** Prompts of the configuration file and of the database, in memory. */
export function createPrompts({ configured, store }: PromptOptions): Prompts {
  let fromFile = configured;
  const rows = createRowCache(store);
  /** Parsed templates by the object of parameters that contains them. A change of a version replaces that object. */
  const parsedByParams = new WeakMap<PromptVersion['params'], ParsedPrompt>();

  const isOfFile = (id: string): boolean => fromFile.some(({ promptId }) => promptId === id);
  const promptOf = (row: StoredPrompt): PromptVersion => ({ ...row, isFromConfig: false });

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
    list: () => [...fromFile, ...rows.rows().flatMap((row) => (isOfFile(row.promptId) ? [] : [promptOf(row)]))],
    parse: parseDotprompt,
    parsed,
    async add({ promptId, params, info }, by) {
      assertPromptId(promptId);
      if (isOfFile(promptId)) throw changeOfFile(promptId);
      // Throws InvalidInput for a wrong template.
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
          if (!(error instanceof Conflict) || attempt === MAX_ATTEMPTS) throw error;
          continue;
        }
        // oxlint-disable-next-line no-await-in-loop -- the loop ends here
        await rows.refresh();
        return promptOf(row);
      }
    },
    async change(id, { params, info }, { now, by }) {
      const { promptId: named } = namedVersion(id);
      if (isOfFile(named)) throw changeOfFile(named);
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
      return changed === null ? null : promptOf(changed.after);
    },
    async remove(promptId) {
      if (isOfFile(promptId)) throw changeOfFile(promptId);
      await rows.refresh();
      const ids = rows.rows().flatMap((row) => (row.promptId === promptId ? [row.id] : []));
      const removed = await store.remove(ids);
      await rows.refresh();
      return removed.map(promptOf);
    },
    configure(next) {
      fromFile = next;
    },
    refresh: () => rows.refresh(),
  };
}

const changeOfFile = (id: string): Conflict =>
  new Conflict(`The prompt ${id} is in the configuration file. Change it there.`);
