import { describe, expect, it } from 'vitest';
import { containerWithSkills, skillsIn } from '../../../src/domain/upstream-objects/named-skills.ts';

const custom = (id: unknown) => ({ type: 'custom', skill_id: id, version: '1' });
const published = { type: 'anthropic', skill_id: 'pdf' };

describe('skillsIn', () => {
  it('has the ids of stored skills, each once, and of skills without a known type', () => {
    const skills = [custom('a'), published, custom('b'), custom('a'), { skill_id: 'c' }, { type: 'x', skill_id: 'd' }];
    expect(skillsIn({ container: { skills } })).toEqual(['a', 'b', 'c', 'd']);
  });

  it.each([undefined, null, 'container_1', [], {}, { skills: null }, { skills: 'a' }, { skills: [null, 'a', 1, []] }])(
    'is empty for the container %j',
    (container) => {
      expect(skillsIn({ container })).toEqual([]);
    },
  );

  it('leaves out ids that are no text', () => {
    expect(skillsIn({ container: { skills: [custom(1), custom(null), custom(['a']), custom({ a: 1 })] } })).toEqual([]);
  });
});

describe('containerWithSkills', () => {
  it('replaces known ids only, and keeps all other members', () => {
    const body = { container: { id: 'container_1', skills: [custom('a'), published, custom('b'), custom(1), null] } };
    expect(
      containerWithSkills(
        body,
        new Map([
          ['a', 'up'],
          ['pdf', 'no'],
        ]),
      ),
    ).toEqual({
      id: 'container_1',
      skills: [custom('up'), published, custom('b'), custom(1), null],
    });
  });
});
