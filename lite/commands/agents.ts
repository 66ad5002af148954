import { type Agent, AGENTS } from '../agents/agents.ts';
import { findProgram, runProgram } from '../agents/launch.ts';
import { verifyKey } from '../agents/verify-key.ts';
import type { Command } from '../command.ts';
import { checkedKey, type Context } from '../context.ts';
import { CommandFailure } from '../failure.ts';
import type { Values } from '../values.ts';
import { logIn } from './login.ts';

export const NO_KEY =
  'No LiteLLM key found. Set LITELLM_PROXY_API_KEY (or pass --api-key) for non-interactive use, or run `lite login` ' +
  'from a terminal.';

/** The key for an agent. Without a key, a person at a terminal signs in. Throws CommandFailure for no key. */
async function keyOrLogin(context: Context): Promise<string> {
  const key = checkedKey(await context.key());
  if (key !== null) return key;
  if (!context.host.terminal.isInteractive) throw new CommandFailure(NO_KEY);
  context.host.terminal.print('No LiteLLM credentials found; starting login...');
  const issued = await logIn(context);
  if (issued === null) throw new CommandFailure('Login did not produce an API key; cannot start the agent.');
  return issued;
}

async function launch(context: Context, agent: Agent, values: Values): Promise<void> {
  const { host, baseUrl } = context;
  const key = await keyOrLogin(context);
  host.terminal.print(`litellm: routing ${agent.name} through proxy at ${baseUrl}`);
  const program = findProgram(host.environment, agent.program);
  if (program === null)
    throw new CommandFailure(`Could not find \`${agent.program}\` on your PATH. Install it first: ${agent.docs}`);
  const models = values.flag('skip-verify') ? null : await verifyKey(baseUrl, key);
  const environment = agent.environment(host.environment, { baseUrl, key, models });
  await runProgram(program, [...agent.words(baseUrl), ...values.operands], environment);
}

export const agentCommands: readonly Command[] = AGENTS.map((agent) => ({
  names: [agent.program],
  summary: `Run ${agent.name} through the server`,
  forwardsArguments: true,
  options: { 'skip-verify': { type: 'boolean', help: 'Do not check the key before the start' } },
  run: (context, values) => launch(context, agent, values),
}));
