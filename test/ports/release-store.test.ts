import { ENGINES } from './engines.ts';
import { releaseStoreSuite } from './release-store-suite.ts';

for (const engine of ENGINES) releaseStoreSuite(engine);
