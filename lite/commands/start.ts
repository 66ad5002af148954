import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../agents/launch.ts';
import type { Command } from '../command.ts';
import { CommandFailure } from '../failure.ts';
import type { Host } from '../host.ts';
import { jsonObjectOf } from '../../src/domain/json-object.ts';
import { textOrNull } from '../values.ts';

/** Oldest major version of Node that runs the server. */
const SERVER_NODE = 26;

/** Path of the Node of the project, else of this process. Throws CommandFailure for a Node below `SERVER_NODE`. */
function serverNode({ root }: Host): string {
  const own = join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node');
  if (existsSync(own)) return own;
  if (Number(process.versions.node.split('.')[0]) >= SERVER_NODE) return process.execPath;
  throw new CommandFailure(`The server needs Node ${SERVER_NODE}, which \`npm ci\` installs into ${root}.`);
}

/** Flags of Node in the script `start` of package.json. */
function startFlags({ root }: Host): readonly string[] {
  const scripts = jsonObjectOf(jsonObjectOf(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))['scripts']);
  return (textOrNull(scripts['start']) ?? '').split(' ').filter((word) => word.startsWith('--'));
}

export const startCommands: readonly Command[] = [
  {
    names: ['start'],
    summary: 'Start the server, with the options of `npm start`',
    forwardsArguments: true,
    run: ({ host }, values) =>
      runProgram(serverNode(host), [...startFlags(host), join(host.root, 'scripts', 'start.mjs'), ...values.operands], {
        // The value that `npm start` sets.
        MALLOC_ARENA_MAX: '2',
        ...host.environment,
      }),
  },
];
