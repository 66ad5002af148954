import { join } from 'node:path';
import { installPeer } from './install.ts';

const VERSION = '1.15.2';
/** Older version of the server package: with the newest one, Portkey answers 500 to every OpenAI stream. */
const NODE_SERVER = '1.14.1';

/** Node version of Portkey's image. A goal compares with it. */
const SHIPPED_NODE = '20.20.2';

/** Command that starts Portkey's gateway on a loopback port, with this Node or another. */
export type PortkeyCommand = (port: number, node?: string) => readonly string[];

/** Headers of a request that Portkey forwards to an OpenAI-compatible upstream. It checks no keys in this mode. */
export const portkeyHeaders = (upstreamOrigin: string): Readonly<Record<string, string>> => ({
  'x-portkey-provider': 'openai',
  'x-portkey-custom-host': `${upstreamOrigin}/v1`,
});

/** Installs Portkey into a scratch folder; null where that is not possible. */
export async function installPortkey(folder: string): Promise<PortkeyCommand | null> {
  const overrides = { '@hono/node-server': NODE_SERVER };
  const home = await installPeer(folder, { name: '@portkey-ai/gateway', version: VERSION, overrides });
  if (home === null) return null;
  const server = join(home, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  const loopback = join(import.meta.dirname, 'loopback.mjs');
  return (port, node = process.execPath) => [node, '--import', loopback, server, `--port=${port}`, '--headless'];
}

/** Installs the Node of Portkey's image into a scratch folder; null where that is not possible. */
export async function installShippedNode(folder: string): Promise<string | null> {
  const name = `node-${process.platform}-${process.arch}`;
  const home = await installPeer(folder, { name, version: SHIPPED_NODE });
  return home === null ? null : join(home, 'node_modules', name, 'bin/node');
}
