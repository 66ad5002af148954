import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './measure.ts';

/**
 * Installs a peer into a scratch folder, not as a dependency, and returns its home there. Prints the reason and returns
 * null when the installation fails.
 */
export async function installPeer(
  folder: string,
  { name, version, overrides = {} }: { readonly name: string; readonly version: string; readonly overrides?: object },
): Promise<string | null> {
  const home = join(folder, 'peer', name.replace(/^.*\//, ''));
  mkdirSync(home, { recursive: true });
  writeFileSync(
    join(home, 'package.json'),
    JSON.stringify({ private: true, dependencies: { [name]: version }, overrides }),
  );
  try {
    await run(['npm', 'install', '--prefix', home, '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']);
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 300) : String(error);
    console.log(`SKIPPED: ${name} ${version} could not be installed: ${reason}`);
    return null;
  }
  return home;
}
