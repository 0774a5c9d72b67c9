import type { change as english } from '../en/change';
import type { Translation } from '../translation';

export const change: Translation<typeof english> = {
  title: '升级或回滚 {{name}}',
  here: '升级或回滚',
  upgrade: '升级',
  rollback: '回滚',
  rollbackOverride: '仍然回滚',
  values: '值，从修订版本 {{revision}} 开始 (YAML)',
  againstLive: '与修订版本 {{revision}} 比较',
  difference: {
    label: '值的变化',
    revision: '与修订版本 {{revision}} 相比',
    defaults: '与 Chart 默认值相比',
    none: '没有变化。',
    unreadable: '这些值还不是 YAML。',
  },
  reference: '关于该 Chart',
  noValues: '无法读取修订版本 {{revision}} 的值',
  changed: '该发布现在的修订版本是 {{revision}}',
  nothingEarlier: '没有可以回滚到的更早修订版本。',
  goBackTo: '回滚到',
  revision: '修订版本',
  wouldChange: '将发生的变化',
};
