import type { drift as english } from '../en/drift';
import type { Translation } from '../translation';

export const drift: Translation<typeof english> = {
  about: '记录中的修订版本 {{revision}} 与集群当前状态的比较。',
  again: '重新比较',
  comparing: '正在与集群比较',
  drifted: '集群与记录不一致',
  none: '集群与记录一致',
  unlisted: '无法查找以下类型的多余对象：{{kinds}}',
  same_other: '{{count}} 个对象与记录一致',
  states: {
    same: '一致',
    changed: '已更改',
    missing: '缺失',
    extra: '多余',
    unknown: '未知',
  },
  help: {
    same: '与记录一致。',
    changed: '与记录不同。',
    missing: '记录中有，集群中没有。',
    extra: '带有该发布的名称，但记录中没有。',
    unknown: '无法比较。',
  },
  added: '由他人设置，不在记录中。这不是偏移。',
  changesOf: '{{name}} 的已更改字段',
  addedTo: '他人添加到 {{name}} 的字段',
  field: '字段',
  manager: '设置者',
  drift: {
    recorded: '记录',
    live: '集群中',
  },
  preview: {
    recorded: '将变为',
    live: '当前',
  },
};
