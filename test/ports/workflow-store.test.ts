import { ENGINES } from './engines.ts';
import { workflowStoreSuite } from './workflow-store-suite.ts';

for (const engine of ENGINES) workflowStoreSuite(engine);
