import type { resources as english } from '../en/resources';
import type { Translation } from '../translation';

export const resources: Translation<typeof english> = {
  title: '资源',
  ready: '{{ready}} / {{total}} 就绪',
  none: '尚无资源',
  noneAtEnd: '没有资源',
  kind: '类型',
  name: '名称',
  namespace: '名称空间',
  status: '状态',
  readyColumn: '就绪',
  hook: 'Hook',
  old: '正被替换',
  restarts_other: '重启 {{count}} 次',
  why: '{{name}} 未就绪的原因：{{reason}}',
  show: '显示 {{name}} 拥有的资源',
  hide: '隐藏 {{name}} 拥有的资源',
  causes: {
    title: '尚未就绪',
    final: '无法自行恢复',
    count_other: '及另外 {{count}} 个',
  },
};
