import { ENGINES } from './engines.ts';
import { traceStoreLoadSuite } from './trace-store-load-suite.ts';
import { traceStoreSuite } from './trace-store-suite.ts';

for (const engine of ENGINES) {
  traceStoreSuite(engine);
  traceStoreLoadSuite(engine);
}
