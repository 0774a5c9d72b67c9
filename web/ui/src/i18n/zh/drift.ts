import type { drift as english } from '../en/drift';
import type { Translation } from '../translation';

export const drift: Translation<typeof english> = {
  about: '将记录中的 Revision {{revision}} 与集群的当前状态进行比较。',
  again: '重新比较',
  comparing: '正在与集群比较',
  drifted: '检测到配置漂移：集群与 Revision {{revision}} 不一致',
  none: '没有配置漂移：集群与 Revision {{revision}} 一致',
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
    same: '对象与记录一致。',
    changed: '对象与记录不同。',
    missing: '对象在记录中，但不在集群中。',
    extra: '对象带有该 Release 的名称，但不在记录中。',
    unknown: '无法比较该对象。',
  },
  added: '由他人设置，不在记录中。这不是配置漂移。',
  changesOf: '{{name}} 的已更改字段',
  addedTo: '他人添加到 {{name}} 的字段',
  field: '字段',
  manager: '设置者',
  drift: {
    recorded: '记录',
    live: '集群中',
  },
  preview: {
    recorded: '之后',
    live: '之前',
  },
};
