// Prints long sentences of comments and documents: node test/house/sentences.list.ts [path-prefix …]
import { readFiles } from './repository.ts';
import { longSentences } from './sentences.ts';

const prefixes = process.argv.slice(2);
const files = readFiles('**/*.{ts,mjs,md}').filter(
  ({ path }) => prefixes.length === 0 || prefixes.some((one) => path.startsWith(one)),
);
for (const line of files.flatMap(longSentences)) process.stdout.write(`${line}\n`);
