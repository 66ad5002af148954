import { ENGINES } from './engines.ts';
import { upstreamObjectStoreSuite } from './upstream-object-store-suite.ts';

for (const engine of ENGINES) upstreamObjectStoreSuite(engine);
