import { TRACE_ENGINES } from './clickhouse-engine.ts';
import { traceRemovalSuite } from './trace-removal-suite.ts';
import { traceStoreExportSuite } from './trace-store-export-suite.ts';
import { traceStoreSummariesSuite } from './trace-store-summaries-suite.ts';
import { traceStoreLoadSuite } from './trace-store-load-suite.ts';
import { traceStorePagesSuite } from './trace-store-pages-suite.ts';
import { traceStorePiecesSuite } from './trace-store-pieces-suite.ts';
import { traceStoreSuite } from './trace-store-suite.ts';

/** Numbers of spans from which traces have notes: from the first one, during the test, and never. */
const NOTES_FROM = [0, 6, null];

for (const engine of TRACE_ENGINES) {
  traceStoreSuite(engine);
  traceStoreExportSuite(engine);
  traceStoreSummariesSuite(engine);
  traceRemovalSuite(engine);
  traceStoreLoadSuite(engine);
  traceStorePagesSuite(engine);
  // ClickHouse has no notes.
  for (const notesFrom of engine.name === 'clickhouse' ? [null] : NOTES_FROM) traceStorePiecesSuite(engine, notesFrom);
}
