import { TRACE_ENGINES } from './clickhouse-engine.ts';
import { traceSearchSuite } from './trace-search-suite.ts';

for (const engine of TRACE_ENGINES) traceSearchSuite(engine);
