import { claudeSettingsFile } from '../agents/claude-settings.ts';
import { configureClaude, unconfigureClaude } from '../agents/configure-claude.ts';
import { forgetSetup, readSetup, type SavedSetup, writeSetup } from '../agents/saved-setup.ts';
import { refuseWhileOwned } from '../agents/settings-backup.ts';
import { verifyKey } from '../agents/verify-key.ts';
import type { Command, Options } from '../command.ts';
import { checkedKey, type Context } from '../context.ts';
import { CommandFailure, UsageFailure } from '../failure.ts';
import { checkedBaseUrl } from '../server/base-url.ts';
import { plain } from '../terminal/table.ts';
import { type Members, textOrNull, type Values } from '../values.ts';

type Verb = 'configure' | 'reconfigure';

const NEEDS_KEY =
  '`lite configure` needs a long-lived virtual key: pass --api-key, `lite --api-key`, or set LITELLM_PROXY_API_KEY. ' +
  'Your `lite login` credential expires within a day, so it is not written into agent settings.';

const needsTerminal = (verb: Verb): string =>
  `\`lite ${verb}\` asks questions, so it needs a terminal. Non-interactively, run ` +
  `\`lite ${verb} claude --api-key <key> --model <model>\``;

/** Values of options; null where they are absent. */
interface Given {
  readonly baseUrl: string | null;
  readonly key: string | null;
  readonly model: string | null;
  /** Whether no model shall be pinned. */
  readonly unpin: boolean;
}

function givenOf(values: Values): Given {
  const [gateway, base] = [values.text('gateway-url'), values.text('base-url')];
  const url = gateway ?? base;
  const [model, unpin] = [values.text('model'), values.flag('default-model')];
  if (model !== null && unpin) throw new UsageFailure('--model and --default-model cannot be used together');
  const baseUrl = url === null ? null : checkedBaseUrl(url, '--gateway-url').replace(/\/v1$/, '');
  return { baseUrl, key: values.text('api-key'), model, unpin };
}

const idsOf = (models: readonly Members[]): readonly string[] => models.flatMap(({ id }) => textOrNull(id) ?? []);

const MOST_SHOWN = 20;

/** Checks the setup against the server. Throws CommandFailure. */
async function checked(setup: SavedSetup): Promise<void> {
  const models = await verifyKey(setup.baseUrl, setup.key, 'Pass a valid --api-key.');
  if (models === null) throw new CommandFailure(`${setup.baseUrl}/v1/models could not be read with this key.`);
  const ids = idsOf(models);
  if (setup.model === null || ids.includes(setup.model)) return;
  const shown = ids.slice(0, MOST_SHOWN).join(', ') + (ids.length > MOST_SHOWN ? ', ...' : '');
  throw new CommandFailure(
    plain(`'${setup.model}' is not served by ${setup.baseUrl} for this key. /v1/models lists: ${shown}.`),
  );
}

/** Asks for what the options do not say. Throws CommandFailure at the end of the input. */
async function asked(
  { host, baseUrl, explicitKey }: Context,
  given: Given,
  saved: SavedSetup | null,
): Promise<SavedSetup> {
  const { terminal } = host;
  const answer = (text: string | null): string => {
    if (text === null) throw new CommandFailure('Setup cancelled; no settings were changed.');
    return text.trim();
  };
  const before = saved?.baseUrl ?? baseUrl;
  const url = given.baseUrl ?? (answer(await terminal.ask(`Gateway URL [${before}]: `)) || before);
  const keptKey = saved?.key ?? explicitKey;
  const hint = keptKey === null ? '' : ' [keep the current key]';
  const key = given.key ?? (answer(await terminal.askSecret(`Virtual key${hint}: `)) || keptKey);
  if (key === null) throw new CommandFailure(NEEDS_KEY);
  const setup = { baseUrl: checkedBaseUrl(url, 'Gateway URL').replace(/\/v1$/, ''), key: checkedKey(key) ?? '' };
  if (given.model !== null || given.unpin) return { ...setup, model: given.model };
  const ids = idsOf((await verifyKey(setup.baseUrl, setup.key, 'Pass a valid key.')) ?? []);
  terminal.print(`Models of this key: ${plain(ids.join(', '))}`);
  const current = saved?.model ?? 'none';
  const model = answer(await terminal.ask(`Starting model, or 'none' [${current}]: `)) || current;
  return { ...setup, model: model === 'none' ? null : model };
}

/** Completes the options with the saved setup. Null where they are not enough. */
function completed({ baseUrl, explicitKey }: Context, given: Given, saved: SavedSetup | null): SavedSetup | null {
  const key = checkedKey(given.key ?? saved?.key ?? explicitKey);
  if (key === null) return null;
  // A saved key belongs to the saved address only.
  if (given.key === null && saved !== null && given.baseUrl !== null && given.baseUrl !== saved.baseUrl)
    throw new CommandFailure('Another gateway needs its own key: pass --api-key with --gateway-url.');
  return {
    baseUrl: given.baseUrl ?? saved?.baseUrl ?? baseUrl,
    key,
    model: given.unpin ? null : (given.model ?? saved?.model ?? null),
  };
}

async function configure(context: Context, values: Values, verb: Verb, isNamed: boolean): Promise<void> {
  const { host } = context;
  const given = givenOf(values);
  refuseWhileOwned(host, claudeSettingsFile(host));
  const saved = readSetup(host);
  const hasOptions = given.baseUrl !== null || given.key !== null || given.model !== null || given.unpin;
  const asks =
    verb === 'reconfigure' ? !hasOptions : !hasOptions && saved === null && !(isNamed && context.explicitKey);
  if (asks && !host.terminal.interactive)
    throw new CommandFailure(isNamed && verb === 'configure' ? NEEDS_KEY : needsTerminal(verb));
  const setup = asks ? await asked(context, given, saved) : completed(context, given, saved);
  if (setup === null) throw new CommandFailure(NEEDS_KEY);
  await checked(setup);
  configureClaude(host, { ...setup, model: setup.model ?? { unpin: true } });
  writeSetup(host, setup);
  host.terminal.print('Start `claude` from any terminal. Undo with `lite unconfigure claude`.');
  host.terminal.print(
    'Setup saved. Edit with `lite reconfigure claude`; remove saved settings and key with ' +
      '`lite unconfigure claude --forget`.',
  );
}

function unconfigure({ host }: Context, values: Values): void {
  unconfigureClaude(host);
  if (!values.flag('forget')) {
    host.terminal.print('Saved setup retained. Run `lite configure claude` to apply it again.');
    return;
  }
  forgetSetup(host);
  host.terminal.print('Forgot saved claude setup, including its saved key.');
}

const OPTIONS: Options = {
  'api-key': { type: 'string', help: 'Long-lived virtual key, or reuse the saved key' },
  'gateway-url': { type: 'string', help: 'Address of the server, or reuse the saved one' },
  'base-url': { type: 'string', help: 'The same as --gateway-url' },
  model: { type: 'string', help: 'Model with which the agent starts' },
  'default-model': { type: 'boolean', help: 'Let the agent choose its model' },
};

const FORGET: Options = { forget: { type: 'boolean', help: 'Also delete the saved setup and its key' } };

/** A command for every agent, and one for Claude Code, which is the only agent with saved settings. */
const bothForms = (verb: Verb, summary: string): readonly Command[] => [
  { names: [verb], summary, options: OPTIONS, run: (context, values) => configure(context, values, verb, false) },
  {
    names: [verb, 'claude'],
    summary,
    options: OPTIONS,
    run: (context, values) => configure(context, values, verb, true),
  },
];

export const configureCommands: readonly Command[] = [
  ...bothForms('configure', 'Route Claude Code through the server for good, with a saved setup'),
  ...bothForms('reconfigure', 'Change the saved setup, and apply it'),
  { names: ['unconfigure'], summary: 'Undo `lite configure`', options: FORGET, run: unconfigure },
  { names: ['unconfigure', 'claude'], summary: 'Undo `lite configure claude`', options: FORGET, run: unconfigure },
];
