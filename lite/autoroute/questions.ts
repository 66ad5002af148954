import { CommandFailure } from '../failure.ts';
import type { Host } from '../host.ts';
import { plain } from '../terminal/table.ts';
import { type AutorouteSetup, ROUTER, TIERS } from './autoroute-config.ts';

/** Waits for an answer; an empty answer is `usual`. Throws CommandFailure at the end of the input. */
async function answerTo({ terminal }: Host, question: string, usual: string): Promise<string> {
  const text = await terminal.ask(`${question} [${plain(usual)}]: `);
  if (text === null) throw new CommandFailure('Setup cancelled; no configuration was written.');
  return text.trim() || usual;
}

/** Models that an answer names, by number or name. Null where one of them does not exist. */
function modelsOf(answer: string, ids: readonly string[]): readonly string[] | null {
  const words = answer
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean);
  const found = words.flatMap((word) => (ids.includes(word) ? word : (ids[Number(word) - 1] ?? [])));
  return found.length === words.length && found.length > 0 ? [...new Set(found)] : null;
}

async function askForModels(host: Host, question: string, ids: readonly string[], usual: readonly string[]) {
  for (;;) {
    const models = modelsOf(await answerTo(host, question, usual.join(', ')), ids);
    if (models !== null) return models;
    host.terminal.print('No such model. Answer with numbers or names of the list, separated by commas.');
  }
}

async function askForModel(host: Host, question: string, ids: readonly string[], usual: string): Promise<string> {
  for (;;) {
    const [model, ...others] = await askForModels(host, question, ids, [usual]);
    if (model !== undefined && others.length === 0) return model;
    host.terminal.print('Answer with one model.');
  }
}

/**
 * Asks for the models of each tier, the default model and the classifier. `models` are the models of the key.
 * Throws CommandFailure where the key has no model, and at the end of the input.
 */
export async function askForAutoroute(host: Host, baseUrl: string, models: readonly string[]): Promise<AutorouteSetup> {
  const { terminal } = host;
  // A model of this name would be replaced by the local router.
  const ids = models.filter((id) => id !== ROUTER);
  const [first] = ids;
  if (first === undefined) throw new CommandFailure('Your key may call no model.');
  terminal.print('Models of this key:');
  for (const [index, id] of ids.entries()) terminal.print(`  ${index + 1}. ${plain(id)}`);
  const tiers: Partial<Record<(typeof TIERS)[number], readonly string[]>> = {};
  let usual: readonly string[] = [first];
  for (const tier of TIERS) {
    usual = await askForModels(host, `Models of ${tier}`, ids, usual);
    tiers[tier] = usual;
  }
  const { SIMPLE = [first], MEDIUM = SIMPLE, COMPLEX = MEDIUM, REASONING = COMPLEX } = tiers;
  const defaultModel = await askForModel(host, 'Default model', ids, MEDIUM[0] ?? first);
  const judge = await askForJudge(host, ids, SIMPLE[0] ?? first);
  return { baseUrl, tiers: { SIMPLE, MEDIUM, COMPLEX, REASONING }, defaultModel, judge };
}

/** Asks for the classifier. Returns its model; null for the heuristic. */
async function askForJudge(host: Host, ids: readonly string[], usual: string): Promise<string | null> {
  for (;;) {
    const classifier = await answerTo(host, 'Classifier, heuristic or llm', 'heuristic');
    if (classifier === 'heuristic') return null;
    if (classifier === 'llm') return askForModel(host, 'Model of the classifier', ids, usual);
    host.terminal.print('Answer with heuristic or llm.');
  }
}
