import type { Command } from './command.ts';
import { agentCommands } from './commands/agents.ts';
import { autorouteCommands } from './commands/autoroute.ts';
import { catalogCommands } from './commands/catalog.ts';
import { chatCommands } from './commands/chat.ts';
import { configCommands } from './commands/config.ts';
import { configureCommands } from './commands/configure.ts';
import { credentialCommands } from './commands/credentials.ts';
import { decideCommands } from './commands/decide.ts';
import { encryptionCommands } from './commands/encryption.ts';
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
  ...encryptionCommands,
  ...teamCommands,
  ...userCommands,
  ...httpCommands,
  ...agentCommands,
  ...configureCommands,
  ...upCommands,
  ...autorouteCommands,
  ...traceCommands,
  ...catalogCommands,
  ...decideCommands,
  ...lensCommands,
];

/** Summaries of the groups of commands. */
export const GROUPS: Readonly<Record<string, string>> = {
  auth: 'Use the stored login in other programs',
  autoroute: 'Route Claude Code through an auto router on this machine',
  config: 'Manage the settings of this command',
  credentials: 'Manage credentials of providers',
  encryption: 'Manage the encryption of stored secrets',
  http: 'Send requests to the server',
  keys: 'Manage API keys',
  models: 'Manage models',
  'model-groups': 'Inspect the model groups that your key can access',
  teams: 'Manage teams',
  users: 'Manage users',
};
