import { ENGINES } from './engines.ts';
import { toolStoreSuite } from './tool-store-suite.ts';

for (const engine of ENGINES) toolStoreSuite(engine);
