import { annotationStoreSuite } from './annotation-store-suite.ts';
import { ENGINES } from './engines.ts';

for (const engine of ENGINES) annotationStoreSuite(engine);
