// Breaks `codegen`.
import { call } from './src/providers/imports-an-http-client.ts';

export const generator = call;
