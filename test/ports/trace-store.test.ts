import { TRACE_ENGINES } from './clickhouse-engine.ts';
import { traceRemovalSuite } from './trace-removal-suite.ts';
import { traceStoreExportSuite } from './trace-store-export-suite.ts';
import { traceStoreSummariesSuite } from './trace-store-summaries-suite.ts';
import { traceStoreLoadSuite } from './trace-store-load-suite.ts';
import { traceStorePagesSuite } from './trace-store-pages-suite.ts';
import { traceStorePiecesSuite } from './trace-store-pieces-suite.ts';
import { traceStoreSuite } from './trace-store-suite.ts';

for (const engine of TRACE_ENGINES) {
  traceStoreSuite(engine);
  traceStoreExportSuite(engine);
  traceStoreSummariesSuite(engine);
  traceRemovalSuite(engine);
  traceStoreLoadSuite(engine);
  traceStorePagesSuite(engine);
  traceStorePiecesSuite(engine);
}
