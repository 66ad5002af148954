import { codingAgentStoreSuite } from './coding-agent-store-suite.ts';
import { ENGINES } from './engines.ts';

for (const engine of ENGINES) codingAgentStoreSuite(engine);
