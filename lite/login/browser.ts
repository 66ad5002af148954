import { spawn } from 'node:child_process';
import { type Host, variable } from '../host.ts';

/** The program that opens an address, and its arguments. */
function opener(host: Host, url: string): readonly [string, readonly string[]] {
  const own = variable(host, 'BROWSER');
  if (own !== null) return [own, [url]];
  if (process.platform === 'darwin') return ['open', [url]];
  // `start` of the shell would read `&` of the address.
  if (process.platform === 'win32') return ['rundll32', ['url.dll,FileProtocolHandler', url]];
  return ['xdg-open', [url]];
}

/** Opens an address in the browser of the system. A failure is ignored: the address is also printed. */
export function openBrowser(host: Host, url: string): void {
  const [program, words] = opener(host, url);
  if (program === 'none') return;
  try {
    const child = spawn(program, [...words], { stdio: 'ignore', detached: true });
    child.on('error', () => {});
    child.unref();
  } catch {
    // The person opens the printed address.
  }
}
