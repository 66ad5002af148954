import { describe, expect, it } from 'vitest';
import { evalWithModels, runWithModels, withGraderModels } from '../../../src/domain/upstream-objects/graders.ts';
import { runUsesOf } from '../../../src/domain/upstream-objects/batch-use.ts';
import { containersIn } from '../../../src/domain/upstream-objects/named-containers.ts';

const upper = (model: string): string => model.toUpperCase();

describe('models of graders', () => {
  it('are renamed at each level, and other members are not', () => {
    const inner = { type: 'score_model', model: 'b', input: [{ content: 'model' }] };
    const method = { type: 'reinforcement', reinforcement: { grader: { type: 'multi', graders: { inner } } } };
    expect(withGraderModels(method, upper)).toEqual({
      type: 'reinforcement',
      reinforcement: { grader: { type: 'multi', graders: { inner: { ...inner, model: 'B' } } } },
    });
    expect(withGraderModels({ supervised: { hyperparameters: { model: 'x' } } }, upper)).toEqual({
      supervised: { hyperparameters: { model: 'x' } },
    });
  });

  it('are those of the criteria of an evaluation; the first of them is returned', () => {
    const config = { type: 'custom' };
    const criteria = [{ type: 'python' }, { model: 'a' }, { model: 'b' }, 'no grader'];
    expect(evalWithModels({ data_source_config: config, testing_criteria: criteria }, upper)).toEqual({
      criteria: [{ type: 'python' }, { model: 'A' }, { model: 'B' }, 'no grader'],
      model: 'a',
    });
    expect(evalWithModels({ data_source_config: config }, upper)).toEqual({ criteria: null, model: null });
  });
});

describe('the data source of a run', () => {
  it('has the names and ids of the upstream, and keeps its data', () => {
    const content = [{ item: { model: 'a', id: 'x' } }];
    const own = {
      type: 'responses',
      model: 'a',
      source: { type: 'file_content', content },
      sampling_params: { tools: [] },
    };
    const read = runWithModels({ data_source: own }, upper);
    expect([read.model, read.fileId, read.tools, read.source(null)]).toEqual(['a', null, [], { ...own, model: 'A' }]);
    const file = { type: 'jsonl', source: { type: 'file_id', id: 'file-1' } };
    const ofFile = runWithModels({ data_source: file }, upper);
    expect([ofFile.model, ofFile.fileId, ofFile.source('up')]).toEqual([
      null,
      'file-1',
      { type: 'jsonl', source: { type: 'file_id', id: 'up' } },
    ]);
  });
});

describe('the usage of a run', () => {
  it('is that of each model, without empty and implausible counts', () => {
    const used = (model: unknown, prompt: unknown, completion: unknown, cached?: unknown) => ({
      model_name: model,
      invocation_count: 1,
      prompt_tokens: prompt,
      completion_tokens: completion,
      cached_tokens: cached,
    });
    const usage = { cacheWriteTokens: 0, reasoningTokens: 0 };
    expect(
      runUsesOf({ per_model_usage: [used('a', 5, 2, 9), used('', 1, 0), used('b', 0, 0), used('c', 1e10, 1), 3] }),
    ).toEqual([
      { model: 'a', usage: { ...usage, inputTokens: 5, outputTokens: 2, cacheReadTokens: 5 } },
      { model: null, usage: { ...usage, inputTokens: 1, outputTokens: 0, cacheReadTokens: 0 } },
    ]);
    expect(runUsesOf({ per_model_usage: null })).toEqual([]);
  });
});

describe('containers that tools name', () => {
  it('are those of code interpreters and shells, each once', () => {
    expect(
      containersIn([
        { type: 'code_interpreter', container: 'a' },
        { type: 'code_interpreter', container: { type: 'auto' } },
        { type: 'shell', environment: { type: 'container_reference', container_id: 'b' } },
        { type: 'code_interpreter', container: 'a' },
        null,
      ]),
    ).toEqual(['a', 'b']);
    expect(containersIn(undefined)).toEqual([]);
  });
});
