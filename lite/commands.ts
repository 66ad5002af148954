import type { Command } from './command.ts';
import { agentCommands } from './commands/agents.ts';
import { catalogCommands } from './commands/catalog.ts';
import { chatCommands } from './commands/chat.ts';
import { configCommands } from './commands/config.ts';
import { configureCommands } from './commands/configure.ts';
import { credentialCommands } from './commands/credentials.ts';
import { decideCommands } from './commands/decide.ts';
import { httpCommands } from './commands/http.ts';
import { keyImportCommands } from './commands/key-import.ts';
import { keyCommands } from './commands/keys.ts';
import { lensCommands } from './commands/lens.ts';
import { loginCommands } from './commands/login.ts';
import { modelImportCommands } from './commands/model-import.ts';
import { modelCommands } from './commands/models.ts';
import { startCommands } from './commands/start.ts';
import { teamCommands } from './commands/teams.ts';
import { traceCommands } from './commands/traces.ts';
import { upCommands } from './commands/up.ts';
import { userCommands } from './commands/users.ts';
import { versionCommands } from './commands/version.ts';

export const COMMANDS: readonly Command[] = [
  ...startCommands,
  ...versionCommands,
  ...loginCommands,
  ...configCommands,
  ...chatCommands,
  ...modelCommands,
  ...modelImportCommands,
  ...keyCommands,
  ...keyImportCommands,
  ...credentialCommands,
  ...teamCommands,
  ...userCommands,
  ...httpCommands,
  ...agentCommands,
  ...configureCommands,
  ...upCommands,
  ...traceCommands,
  ...catalogCommands,
  ...decideCommands,
  ...lensCommands,
];

/** Summaries of the groups of commands. */
export const GROUPS: Readonly<Record<string, string>> = {
  auth: 'Use the stored login in other programs',
  config: 'Manage the settings of this command',
  credentials: 'Manage credentials of providers',
  http: 'Send requests to the server',
  keys: 'Manage API keys',
  models: 'Manage models',
  'model-groups': 'Inspect the model groups that your key can access',
  teams: 'Manage teams',
  users: 'Manage users',
};
