// Breaks `codegen`.
import { call } from './src/providers/brings-a-client.ts';

export const generator = call;
