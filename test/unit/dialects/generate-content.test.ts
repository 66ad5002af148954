import { GENERATE_CONTENT_IN, GENERATE_CONTENT_OUT } from '../../../src/wire/generate-content/native.ts';
import { dialectSuite } from './dialect-suite.ts';

dialectSuite('generateContent', {
  inbound: GENERATE_CONTENT_IN,
  outbound: GENERATE_CONTENT_OUT,
  kinds: { reasoning: true, proofs: true },
});
