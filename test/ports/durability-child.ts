import { openStores } from '../../src/persistence/database/orm.ts';
import type { StoresOptions } from '../../src/persistence/options.ts';
import { anExport } from './an-export.ts';
import { A_CALL, TEAM_KEY, aKey, aSpan, aSpendRow, spanId } from './samples.ts';

// Stores a key, a spend row, spans, an export and a call, prints `stored`, and waits until the test kills the process.

const options = JSON.parse(process.argv[2] ?? '') as Omit<StoresOptions, 'log'>;
const stores = await openStores({ ...options, log: console });
await stores.keys.add(aKey());
await stores.spend.append([aSpendRow()]);
const spans = Array.from({ length: 700 }, (_, position) => aSpan({ spanId: spanId(position + 1) }));
await stores.traces.ingest([{ owner: TEAM_KEY, spans }]);
await stores.traces.ingestExport(TEAM_KEY, anExport(2, 'in a body'));
await stores.calls.append([stores.calls.encode(A_CALL)]);
await stores.callSpans?.append([stores.callSpans.encode(A_CALL)]);
process.stdout.write('stored\n');
setInterval(() => {}, 60_000);
