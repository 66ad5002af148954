// Prints the long sentences that `sentences.test.ts` rejects: node test/house/sentences.list.ts [path-prefix …]
import { filesWithSentences, longSentences } from './sentences.ts';

const prefixes = process.argv.slice(2);
const files = filesWithSentences().filter(
  ({ path }) => prefixes.length === 0 || prefixes.some((prefix) => path.startsWith(prefix)),
);
for (const line of files.flatMap(longSentences)) process.stdout.write(`${line}\n`);
