import { describe, expect, it } from 'vitest';
import { InvalidInput, UpstreamFailed } from '../../../src/domain/errors.ts';
import {
  QueryFailed,
  queryTextOf,
  rerankedTexts,
  resultTexts,
  retrievalOf,
  searchBody,
  withContext,
  withResults,
} from '../../../src/domain/rag/query.ts';

const BODY = { model: 'm', messages: [{ role: 'user', content: 'q' }], retrieval_config: { vector_store_id: 'vs' } };

describe('a query', () => {
  it('reranks only when enabled', () => {
    expect(retrievalOf(BODY).rerank).toBeNull();
    expect(retrievalOf({ ...BODY, rerank: { enabled: false } }).rerank).toBeNull();
    expect(retrievalOf({ ...BODY, rerank: { enabled: true, model: 'r' } }).rerank).toEqual({ model: 'r', topN: 5 });
    expect(() => retrievalOf({ ...BODY, rerank: { enabled: true } })).toThrow(InvalidInput);
    expect(() => retrievalOf({ ...BODY, rerank: { enabled: true, model: 'r', top_n: 0 } })).toThrow(InvalidInput);
  });

  it('searches for the text of the last message', () => {
    expect(queryTextOf([{ content: 'a' }, { content: 'b' }])).toBe('b');
    const parts = [{ type: 'text', text: 'a' }, { type: 'image_url' }, { type: 'text', text: 'b' }];
    expect(queryTextOf([{ content: parts }])).toBe('a\nb');
    expect(() => queryTextOf([{ content: ' ' }])).toThrow(InvalidInput);
    expect(() => queryTextOf([3])).toThrow(InvalidInput);
  });

  it('has the parameters of the registration before those of the caller', () => {
    const params = { top_k: 3, api_key: 'sk-secret' };
    const store = { params } as unknown as Parameters<typeof searchBody>[2];
    expect(searchBody('q', { top_k: 20, retrieval_filter: { a: 1 } }, store)).toEqual({
      query: 'q',
      max_num_results: 3,
      filters: { a: 1 },
    });
    expect(searchBody('q', {}, null)).toEqual({ query: 'q', max_num_results: 10 });
    expect(() => searchBody('q', { top_k: 'x' }, null)).toThrow(InvalidInput);
  });

  it('reads the texts of results of any form', () => {
    const data = [{ content: [{ text: 'a' }, { text: 'b' }] }, { content: [] }, null, { content: [{ text: 'c' }] }];
    expect(resultTexts({ data })).toEqual(['a\nb', 'c']);
    expect(resultTexts({})).toEqual([]);
    expect(rerankedTexts(['a', 'b'], { results: [{ index: 1 }, { index: 7 }, { index: 0 }] })).toEqual(['b', 'a']);
    expect(rerankedTexts(['a'], {})).toEqual([]);
  });

  it('puts the context before the last message, and the results into the answer', () => {
    expect(withContext([1, 2], [])).toEqual([1, 2]);
    expect(withContext([1, 2], ['a', 'b'])).toEqual([1, { role: 'user', content: 'Context:\n\na\n\nb' }, 2]);
    const answer = { id: 'c', choices: [{ index: 0, message: { content: 'x', provider_specific_fields: { k: 1 } } }] };
    expect(withResults(answer, { search: { data: [] }, reranked: { results: [] } })).toEqual({
      id: 'c',
      choices: [
        {
          index: 0,
          message: {
            content: 'x',
            provider_specific_fields: { k: 1, search_results: [{ data: [] }], rerank_results: { results: [] } },
          },
        },
      ],
    });
    expect(withResults('text', { search: {}, reranked: null })).toBe('text');
  });

  it.each([
    [400, 400],
    [404, 404],
    [401, null],
    [429, null],
    [null, null],
  ])('passes the status %j of the upstream on as %j', (upstreamStatus, expected) => {
    const failure = new QueryFailed(new UpstreamFailed('m', { provider: 'p', upstreamStatus }));
    expect([failure.upstreamStatus, failure.message]).toEqual([expected, 'm']);
  });
});
