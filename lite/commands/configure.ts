import type { JsonObject } from '../../src/domain/json-object.ts';
import { configureClaude, unconfigureClaude } from '../agents/configure-claude.ts';
import { configureCodex, requireSafeCodex, unconfigureCodex } from '../agents/configure-codex.ts';
import {
  forgetSetup,
  hasSetup,
  readSetup,
  type SavedSetup,
  settingsFileOf,
  type Target,
  TARGETS,
  writeSetup,
} from '../agents/saved-setup.ts';
import { refuseWhileOwned } from '../agents/settings-backup.ts';
import { verifyKey } from '../agents/verify-key.ts';
import type { Command, Options } from '../command.ts';
import { checkedKey, type Context } from '../context.ts';
import { CommandFailure, UsageFailure } from '../failure.ts';
import { checkedBaseUrl } from '../server/base-url.ts';
import { plain } from '../terminal/table.ts';
import { textOrNull, type Values } from '../values.ts';

type Verb = 'configure' | 'reconfigure';

const NEEDS_KEY =
  '`lite configure` needs a long-lived virtual key: pass --api-key, `lite --api-key`, or set LITELLM_PROXY_API_KEY. ' +
  'Your `lite login` credential expires within a day, so it is not written into agent settings.';

const needsTerminal = (verb: Verb): string =>
  `\`lite ${verb}\` asks questions, so it needs a terminal. Non-interactively, run ` +
  TARGETS.map((target) => `\`lite ${verb} ${target} --api-key <key> --model <model>\``).join(' or ');

/** Options of the command line; null where they are absent. */
interface Given {
  readonly baseUrl: string | null;
  readonly key: string | null;
  readonly model: string | null;
  /** Whether `--default-model` is set: the agent chooses its model. */
  readonly isUnpinned: boolean;
}

/** Checks the address of a server. Removes a trailing `/v1`. Throws UsageFailure. */
const gatewayOf = (text: string, name: string): string => checkedBaseUrl(text, name).replace(/\/v1$/, '');

function givenOf(values: Values): Given {
  const url = values.text('gateway-url') ?? values.text('base-url');
  const [model, isUnpinned] = [values.text('model'), values.flag('default-model')];
  if (model !== null && isUnpinned) throw new UsageFailure('--model and --default-model cannot be used together');
  const baseUrl = url === null ? null : gatewayOf(url, '--gateway-url');
  return { baseUrl, key: values.text('api-key'), model, isUnpinned };
}

const hasOptions = ({ baseUrl, key, model, isUnpinned }: Given): boolean =>
  baseUrl !== null || key !== null || model !== null || isUnpinned;

const idsOf = (models: readonly JsonObject[]): readonly string[] => models.flatMap(({ id }) => textOrNull(id) ?? []);

/** Most models that a message lists. */
const MOST_SHOWN = 20;

/** Checks that the server accepts the key and has the model. Throws CommandFailure. */
async function check(setup: SavedSetup): Promise<void> {
  const models = await verifyKey(setup.baseUrl, setup.key, 'Pass a valid --api-key.');
  if (models === null) throw new CommandFailure(`${setup.baseUrl}/v1/models could not be read with this key.`);
  const ids = idsOf(models);
  if (setup.model === null || ids.includes(setup.model)) return;
  const shown = ids.slice(0, MOST_SHOWN).join(', ') + (ids.length > MOST_SHOWN ? ', ...' : '');
  throw new CommandFailure(
    plain(`'${setup.model}' is not served by ${setup.baseUrl} for this key. /v1/models lists: ${shown}.`),
  );
}

/** Waits for the answer to a question. Throws CommandFailure at the end of the input. */
async function answerTo(question: Promise<string | null>): Promise<string> {
  const text = await question;
  if (text === null) throw new CommandFailure('Setup cancelled; no settings were changed.');
  return text.trim();
}

/** Asks for a setup. An empty answer selects the value in brackets. */
async function askForSetup({ host, baseUrl, explicitKey }: Context, saved: SavedSetup | null): Promise<SavedSetup> {
  const { terminal } = host;
  const before = saved?.baseUrl ?? baseUrl;
  const url = gatewayOf((await answerTo(terminal.ask(`Gateway URL [${before}]: `))) || before, 'Gateway URL');
  // A saved key is never sent to another address.
  const keptKey = (saved?.baseUrl === url ? saved.key : null) ?? explicitKey;
  const hint = keptKey === null ? '' : ' [keep the current key]';
  const key = checkedKey((await answerTo(terminal.askSecret(`Virtual key${hint}: `))) || keptKey);
  if (key === null) throw new CommandFailure(NEEDS_KEY);
  const ids = idsOf((await verifyKey(url, key, 'Pass a valid key.')) ?? []);
  terminal.print(`Models of this key: ${plain(ids.join(', '))}`);
  const current = saved?.model ?? 'none';
  const model = (await answerTo(terminal.ask(`Starting model, or 'none' [${current}]: `))) || current;
  return { baseUrl: url, key, model: model === 'none' ? null : model };
}

/** The options, completed by the saved setup. Throws CommandFailure without a key for the address. */
function setupFromOptions({ baseUrl, explicitKey }: Context, given: Given, saved: SavedSetup | null): SavedSetup {
  // A saved key is never sent to another address.
  if (given.key === null && saved !== null && given.baseUrl !== null && given.baseUrl !== saved.baseUrl)
    throw new CommandFailure('Another gateway needs its own key: pass --api-key with --gateway-url.');
  const key = checkedKey(given.key ?? saved?.key ?? explicitKey);
  if (key === null) throw new CommandFailure(NEEDS_KEY);
  return {
    baseUrl: given.baseUrl ?? saved?.baseUrl ?? baseUrl,
    key,
    model: given.isUnpinned ? null : (given.model ?? saved?.model ?? null),
  };
}

/** Checks, applies and saves a setup. Throws CommandFailure before any change. */
async function apply({ host }: Context, target: Target, setup: SavedSetup): Promise<void> {
  await check(setup);
  const { model } = setup;
  if (target === 'claude') configureClaude(host, { ...setup, model: model ?? { unpin: true } });
  else if (model === null) throw new UsageFailure("Missing option '--model'. Codex setup needs a starting model");
  else configureCodex(host, { ...setup, model });
  writeSetup(host, target, setup);
  host.terminal.print(`Start \`${target}\` from any terminal. Undo with \`lite unconfigure ${target}\`.`);
  host.terminal.print(
    `Setup saved. Edit with \`lite reconfigure ${target}\`; remove saved settings and key with ` +
      `\`lite unconfigure ${target} --forget\`.`,
  );
}

async function configureOne(context: Context, target: Target, values: Values, verb: Verb): Promise<void> {
  const { host, explicitKey } = context;
  const given = givenOf(values);
  if (target === 'claude') refuseWhileOwned(host, settingsFileOf(host, target));
  else requireSafeCodex(host);
  const saved = readSetup(host, target);
  const isAsking = !hasOptions(given) && (verb === 'reconfigure' || (saved === null && explicitKey === null));
  if (isAsking && !host.terminal.isInteractive)
    throw new CommandFailure(verb === 'configure' ? NEEDS_KEY : needsTerminal(verb));
  await apply(context, target, isAsking ? await askForSetup(context, saved) : setupFromOptions(context, given, saved));
}

/** `configure` applies all saved setups. Without one, and for `reconfigure`, asks for an agent and its setup. */
async function configureAll(context: Context, values: Values, verb: Verb): Promise<void> {
  const { terminal } = context.host;
  if (hasOptions(givenOf(values)))
    throw new UsageFailure('Name the agent: `lite configure claude` or `lite configure codex`');
  const saved = TARGETS.filter((target) => readSetup(context.host, target) !== null);
  if (verb === 'configure' && saved.length > 0) {
    for (const target of saved) await configureOne(context, target, values, verb);
    return;
  }
  if (!terminal.isInteractive) throw new CommandFailure(needsTerminal(verb));
  const name = (await answerTo(terminal.ask(`Agent, ${TARGETS.join(' or ')} [claude]: `))) || 'claude';
  const target = TARGETS.find((known) => known === name);
  if (target === undefined) throw new CommandFailure(`There is no agent '${plain(name)}'.`);
  await apply(context, target, await askForSetup(context, readSetup(context.host, target)));
}

function unconfigure({ host }: Context, targets: readonly Target[], values: Values): void {
  for (const target of targets) {
    if (target === 'claude') unconfigureClaude(host);
    else unconfigureCodex(host);
    if (!hasSetup(host, target)) continue;
    if (!values.flag('forget'))
      host.terminal.print(`Saved setup retained. Run \`lite configure ${target}\` to apply it again.`);
    else if (forgetSetup(host, target)) host.terminal.print(`Forgot saved ${target} setup, including its saved key.`);
  }
}

const OPTIONS: Options = {
  'api-key': { type: 'string', help: 'Long-lived virtual key  [default: the saved key]' },
  'gateway-url': { type: 'string', help: 'Address of the server  [default: the saved address]' },
  'base-url': { type: 'string', help: 'Alias of --gateway-url' },
  model: { type: 'string', help: 'Model with which the agent starts' },
};
const CLAUDE_OPTIONS: Options = {
  ...OPTIONS,
  'default-model': { type: 'boolean', help: 'Let the agent choose its model' },
};
const FORGET: Options = { forget: { type: 'boolean', help: 'Also delete the saved setup and its key' } };

/** Commands of a verb: one for all agents, and one for each agent. */
const commandsOf = (verb: Verb, summary: string): readonly Command[] => [
  { names: [verb], summary, options: OPTIONS, run: (context, values) => configureAll(context, values, verb) },
  ...TARGETS.map((target): Command => {
    const options = target === 'claude' ? CLAUDE_OPTIONS : OPTIONS;
    return {
      names: [verb, target],
      summary,
      options,
      run: (context, values) => configureOne(context, target, values, verb),
    };
  }),
];

export const configureCommands: readonly Command[] = [
  ...commandsOf('configure', 'Route Claude Code or Codex through the server for good, with a saved setup'),
  ...commandsOf('reconfigure', 'Change a saved setup, and apply it'),
  {
    names: ['unconfigure'],
    summary: 'Undo `lite configure`',
    options: FORGET,
    run: (context, values) => unconfigure(context, TARGETS, values),
  },
  ...TARGETS.map((target): Command => ({
    names: ['unconfigure', target],
    summary: `Undo \`lite configure ${target}\``,
    options: FORGET,
    run: (context, values) => unconfigure(context, [target], values),
  })),
];
