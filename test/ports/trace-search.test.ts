import { ENGINES } from './engines.ts';
import { traceSearchSuite } from './trace-search-suite.ts';

for (const engine of ENGINES) traceSearchSuite(engine);
