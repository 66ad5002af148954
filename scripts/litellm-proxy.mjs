#!/usr/bin/env node
// Former name of the command `lite`. It prints a warning on stderr, then runs `lite` with the same arguments.
import { fileURLToPath } from 'node:url';

const NOTICE =
  'The `litellm-proxy` command is deprecated and will be removed in a future release; run `lite` instead, it takes ' +
  'the same commands and options.';
const [YELLOW, PLAIN] = ['\u001b[33m', '\u001b[39m'];

console.error(process.stderr.isTTY && !process.env.NO_COLOR ? `${YELLOW}${NOTICE}${PLAIN}` : NOTICE);
// `lite.mjs` may run its own path again on another Node.
const script = new URL('lite.mjs', import.meta.url);
process.argv[1] = fileURLToPath(script);
await import(script.href);
