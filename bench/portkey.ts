import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './measure.ts';

const VERSION = '1.15.2';
/** A fresh install answers 500 to every stream of OpenAI; with this older server below it, it streams. */
const NODE_SERVER = '1.14.1';

/** What starts Portkey's gateway on a loopback port. */
export type PortkeyCommand = (port: number) => readonly string[];

/** Headers that have it forward to an OpenAI-compatible upstream. It checks no keys in this form. */
export const portkeyHeaders = (upstreamOrigin: string): Readonly<Record<string, string>> => ({
  'x-portkey-provider': 'openai',
  'x-portkey-custom-host': `${upstreamOrigin}/v1`,
});

/** Installs it into a scratch folder, never as a dependency; null, said aloud, where that is not possible. */
export async function installPortkey(folder: string): Promise<PortkeyCommand | null> {
  const home = join(folder, 'portkey');
  mkdirSync(home);
  const wanted = {
    private: true,
    dependencies: { '@portkey-ai/gateway': VERSION },
    overrides: { '@hono/node-server': NODE_SERVER },
  };
  writeFileSync(join(home, 'package.json'), JSON.stringify(wanted));
  try {
    await run(['npm', 'install', '--prefix', home, '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']);
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 300) : String(error);
    console.log(`SKIPPED: @portkey-ai/gateway ${VERSION} could not be installed: ${reason}`);
    return null;
  }
  const server = join(home, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  const loopback = join(import.meta.dirname, 'loopback.ts');
  return (port) => [process.execPath, '--import', loopback, server, `--port=${port}`, '--headless'];
}
