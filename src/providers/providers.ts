import type { Provider } from '../domain/chat/provider.ts';
import type { HttpClient } from '../domain/http.ts';
import { createDemo } from './demo/demo.ts';
import { createOpenAiCompatible } from './openai-compatible/openai-compatible.ts';

export { demoDeployment } from './demo/demo.ts';

/** Every protocol we can speak. A deployment names one by the prefix of its model. */
export function createProviders(http: HttpClient): readonly Provider[] {
  return [createOpenAiCompatible(http), createDemo()];
}
