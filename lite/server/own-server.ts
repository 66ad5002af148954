import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailure } from '../failure.ts';
import type { Host } from '../host.ts';
import { jsonObjectOf } from '../../src/domain/json-object.ts';
import { textOrNull } from '../values.ts';

/** Oldest major version of Node that runs the server. */
const SERVER_NODE = 26;

/** A command line that starts the server of the project. */
interface ServerStart {
  readonly program: string;
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

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

/** The start of the server with the flags of `npm start`. `words` are its options. Throws CommandFailure. */
export const ownServer = (host: Host, words: readonly string[]): ServerStart => ({
  program: serverNode(host),
  words: [...startFlags(host), join(host.root, 'scripts', 'start.mjs'), ...words],
  // The value that `npm start` sets.
  environment: { MALLOC_ARENA_MAX: '2', ...host.environment },
});
