import { spawn } from 'node:child_process';
import { type Host, variable } from '../host.ts';

/** The program that opens an address, and its arguments. `BROWSER` replaces the program of the system. */
function opener(host: Host, url: string): readonly [string, readonly string[]] {
  const chosen = variable(host, 'BROWSER');
  if (chosen !== null) return [chosen, [url]];
  if (process.platform === 'darwin') return ['open', [url]];
  // The shell command `start` would interpret an `&` in the address.
  if (process.platform === 'win32') return ['rundll32', ['url.dll,FileProtocolHandler', url]];
  return ['xdg-open', [url]];
}

/** Opens an address in a browser, unless `BROWSER` is `none`. Ignores failures, because callers print the address. */
export function openBrowser(host: Host, url: string): void {
  const [program, words] = opener(host, url);
  if (program === 'none') return;
  try {
    const child = spawn(program, [...words], { stdio: 'ignore', detached: true });
    child.on('error', () => {});
    child.unref();
  } catch {
    // Ignored, like an `error` event.
  }
}
