import { ENGINES } from './engines.ts';
import { mcpServerStoreSuite } from './mcp-server-store-suite.ts';

for (const engine of ENGINES) mcpServerStoreSuite(engine);
