import { catalogHistorySuite } from './catalog-history-suite.ts';
import { ENGINES } from './engines.ts';

for (const engine of ENGINES) catalogHistorySuite(engine);
